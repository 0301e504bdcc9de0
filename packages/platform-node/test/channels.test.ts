/** The channels of the platform against the suites that every channel must pass: sockets, pipes, thread ports. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { MessageChannel } from 'node:worker_threads';
import type { Channel, Listener } from '@stci/interface';
import { createNodePlatform, streamChannel } from '@stci/platform-node';
import { assert, eventually, patient, suite } from '@stci/testkit';
import {
  LISTEN_OPTIONS, channelCompliance, impairedPair, linkCompliance, networkCompliance, privateNetworkCompliance,
} from '@stci/testkit/compliance';
import type { LinkPair, Until } from '@stci/testkit/compliance';
import { portChannel } from '../dist/channels/port-channel.js';
import { openChannelReader, takeHandle, type ReadSource } from '../dist/channels/sockets.js';

const platform = createNodePlatform();

const until: Until = async (condition, what) => void (await eventually(condition, { what, deadlineMs: 20_000 }));

/** A port that the system gives to nobody who asks for any: one that was just closed may be another test's by now. */
const REFUSING = 'ws://127.0.0.1:1';

networkCompliance('platform-node', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  return {
    network: createNodePlatform().network,
    until,
    refusing: REFUSING,
    silent: `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    end: () => void silent.close(),
  };
});

privateNetworkCompliance('platform-node unix', () => ({ network: createNodePlatform().network, until }));

function portPair(): LinkPair {
  const { port1, port2 } = new MessageChannel();
  return { near: portChannel(port1, 'near'), far: portChannel(port2, 'far'), until, platform };
}

channelCompliance('platform-node port', portPair);

/** A stream of bytes in one direction over a socket pair of the system, as a pipe to a child is. */
async function systemPipe(): Promise<{ readable: Socket; writable: Socket }> {
  const server = createServer().listen(`\0stci-test-${process.pid}-${Math.random()}`);
  await once(server, 'listening');
  const writable = connect(server.address() as string);
  const [readable] = (await once(server, 'connection')) as [Socket];
  server.close();
  return { readable, writable };
}

async function pipePair(): Promise<LinkPair> {
  const [up, down] = [await systemPipe(), await systemPipe()];
  const end = (label: string, readable: Socket, writable: Socket) =>
    streamChannel({ kind: 'stdio', label, readable: openChannelReader(takeHandle(readable) as ReadSource), writable });
  return { near: end('near', down.readable, up.writable), far: end('far', up.readable, down.writable), until,
    platform };
}

channelCompliance('platform-node pipes', pipePair);

async function wsPair(): Promise<LinkPair> {
  const accepted: Channel[] = [];
  let listener: Listener | undefined;
  const options = { ...LISTEN_OPTIONS, pendingMax: 4, frameBytesMax: 2 * 1024 * 1024 };
  platform.network.listen(options, (channel) => accepted.push(channel), (_error, made) => (listener = made));
  await until(() => listener !== undefined, 'a listener');
  const near = platform.network.connect(listener?.addresses[0] ?? '', patient(4000));
  await until(() => accepted.length > 0, 'the other end');
  return { near, far: accepted[0] as Channel, until, platform, end: () => listener?.close() };
}

linkCompliance('platform-node pipes', pipePair);
linkCompliance('platform-node port', portPair);
linkCompliance('platform-node ws', wsPair);

const BULK = { bulkBytes: 20_000_000 };

channelCompliance('platform-node pipes, impaired', async () => impairedPair(await pipePair()), BULK);
channelCompliance('platform-node ws, impaired', async () => impairedPair(await wsPair()), BULK);

suite('a stream channel', (test) => {
  test('has timers that cannot wait heeded between two chunks of a long turn', async () => {
    const [log, readable]: [string[], PassThrough] = [[], new PassThrough()];
    const channel = streamChannel({ kind: 'stdio', label: 'x', readable, writable: new PassThrough() });
    const { clock } = platform;
    const onData = (chunk: Uint8Array): void => {
      const text = String(Buffer.from(chunk));
      log.push(text);
      if (text !== 'a') return;
      for (const name of ['1', '2']) clock.after(1, () => log.push(`fired ${name}`), () => log.push(`overdue ${name}`));
      clock.after(1, () => undefined, () => log.push('cancelled')).cancel();
      clock.after(1e6, () => undefined, () => log.push('early'));
      for (const untilMs = clock.nowMs() + 150; clock.nowMs() < untilMs;);
    };
    channel.bind({ onData, onDrain: () => undefined, onClose: () => undefined });
    clock.after(1, () => log.push('fired'), () => log.push('overdue'));
    await eventually(() => log.length === 1, { what: 'a timer that is over' });
    clock.soon(() => ['a', 'b'].forEach((text) => readable.emit('data', Buffer.from(text))));
    await eventually(() => log.length === 7, { what: 'all' });
    assert.equal(log, ['fired', 'a', 'overdue 1', 'overdue 2', 'b', 'fired 1', 'fired 2']);
    channel.destroy('over');
  });

  test('writes what was sent in one turn together at its end, or when it is flushed', async () => {
    const writes: string[] = [];
    const writable = new Writable({ write: (chunk: Buffer, _encoding, done) => (writes.push(String(chunk)), done()) });
    const channel = streamChannel({ kind: 'stdio', label: 'x', readable: new PassThrough(), writable });
    for (const text of ['a', 'b']) channel.send([Buffer.from(text)]);
    assert.equal(writes, []);
    channel.flush?.();
    assert.equal(writes, ['ab']);
    channel.send([Buffer.from('c')]);
    await eventually(() => writes.length === 2, { what: 'the write' });
    assert.equal(writes, ['ab', 'c']);
    channel.destroy('over');
  });

  test('whose writing failed reads what came before, though its deadline is over once it resumes', async () => {
    const [readable, writable] = [new PassThrough(), new PassThrough()];
    const channel = streamChannel({ kind: 'stdio', label: 'x', readable, writable });
    const events: string[] = [];
    channel.bind({
      onData: (chunk) => events.push(chunk.toString()),
      onDrain: () => undefined,
      onClose: (reason) => events.push(reason),
    });
    channel.readable(false);
    const due: (() => void)[] = [];
    const { setTimeout: real } = globalThis;
    globalThis.setTimeout = ((then: () => void) => {
      due.push(then);
      return real(() => undefined, 0);
    }) as typeof setTimeout;
    try {
      readable.write('last bytes');
      writable.destroy(new Error('broken'));
      await new Promise((resolve) => writable.once('close', resolve));
      channel.readable(true);
      for (const then of due) then();
    } finally {
      globalThis.setTimeout = real;
    }
    await until(() => events.length === 2, 'the bytes and the end');
    assert.equal(events, ['last bytes', 'broken']);
  });
});
