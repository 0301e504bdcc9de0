/** The channels of the platform against the suites that every channel must pass: sockets, pipes, thread ports. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import { createNodePlatform, streamChannel } from '@stci/platform-node';
import { channelCompliance, eventually, networkCompliance } from '@stci/testkit';
import type { Until } from '@stci/testkit';
import { portChannel } from '../dist/port-channel.js';

const until: Until = async (condition, what) => void (await eventually(condition, { what, deadlineMs: 20_000 }));

networkCompliance('platform-node ws', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  const gone = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => gone.once('listening', resolve));
  const refusing = `ws://127.0.0.1:${(gone.address() as AddressInfo).port}`;
  await new Promise((resolve) => gone.close(resolve));
  return {
    network: createNodePlatform().network,
    until,
    refusing,
    silent: `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    end: () => void silent.close(),
  };
});

channelCompliance('platform-node port', () => {
  const { port1, port2 } = new MessageChannel();
  return { near: portChannel(port1, 'near'), far: portChannel(port2, 'far'), until };
});

/** A stream of bytes in one direction over a socket pair of the system, as a pipe to a child is. */
async function systemPipe(): Promise<{ readable: Socket; writable: Socket }> {
  const server = createServer().listen(`\0stci-test-${process.pid}-${Math.random()}`);
  await once(server, 'listening');
  const writable = connect(server.address() as string);
  const [readable] = (await once(server, 'connection')) as [Socket];
  server.close();
  return { readable, writable };
}

channelCompliance('platform-node pipes', async () => {
  const [up, down] = [await systemPipe(), await systemPipe()];
  const end = (label: string, readable: Socket, writable: Socket) =>
    streamChannel({ kind: 'stdio', label, readable, writable });
  return { near: end('near', down.readable, up.writable), far: end('far', up.readable, down.writable), until };
});
