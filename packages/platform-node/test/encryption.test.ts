/** What an attacker on the network sees of an encrypted link, and the effect of changed bytes. */

import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { Channel, Listener } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { LISTEN_OPTIONS, Recorder } from '@stci/testkit/compliance';

const { network } = createNodePlatform();
const KEY = new Uint8Array(32).fill(5);
const UP = Buffer.from('a message that the child sends up: swordfish');
const DOWN = Buffer.from('a message that the parent sends down: marlin');

interface Tap {
  readonly server: Server;
  readonly port: number;
  /** All bytes that crossed, of both directions. */
  seen(): Buffer;
  /** From now on one bit of each chunk for the listener is turned. */
  meddle(): void;
}

async function tap(target: number): Promise<Tap> {
  const crossed: Buffer[] = [];
  let meddles = false;
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('data', (chunk) => {
      crossed.push(Buffer.from(chunk));
      if (meddles) chunk[chunk.length - 1] = (chunk[chunk.length - 1] as number) ^ 1;
      far.write(chunk);
    });
    far.on('data', (chunk) => {
      crossed.push(Buffer.from(chunk));
      near.write(chunk);
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }).listen(0, '127.0.0.1');
  await eventually(() => server.listening, { what: 'the tap' });
  const { port } = server.address() as AddressInfo;
  return { server, port, seen: () => Buffer.concat(crossed), meddle: () => (meddles = true) };
}

interface Tapped {
  readonly tap: Tap;
  readonly listener: Listener;
  readonly near: Channel;
  readonly child: Recorder;
  readonly parent: Recorder;
}

/** Kinds of listeners, by the scheme of their addresses. */
const KINDS = { ws: {}, wss: { key: KEY }, tls: { key: KEY, stream: true } } as const;
type Scheme = keyof typeof KINDS;

/** A link through a tap, over which both messages have gone. */
async function tapped(scheme: Scheme): Promise<Tapped> {
  const accepted: Channel[] = [];
  let listener: Listener | undefined;
  const options = { ...LISTEN_OPTIONS, pendingMax: 8, frameBytesMax: 65_536, ...KINDS[scheme] };
  network.listen(options, (channel) => accepted.push(channel), (_error, made) => (listener = made));
  await eventually(() => listener !== undefined, { what: 'a listener' });
  const stands = listener as unknown as Listener;
  const url = new URL(stands.addresses[0] as string);
  const between = await tap(Number(url.port));
  const near = network.connect(`${url.protocol}//127.0.0.1:${between.port}${url.pathname}`, 5000,
    scheme === 'ws' ? undefined : KEY);
  const child = new Recorder(near);
  near.send([UP]);
  await eventually(() => accepted.length === 1, { what: 'the accepted end' });
  const far = accepted[0] as Channel;
  const parent = new Recorder(far);
  far.send([DOWN]);
  const arrived = () => parent.bytes === UP.length && child.bytes === DOWN.length;
  await eventually(arrived, { what: 'both messages' });
  return { tap: between, listener: stands, near, child, parent };
}

function end({ tap: { server }, listener, near }: Tapped): void {
  near.destroy('done');
  listener.close();
  server.close();
}

suite('encryption of links over sockets', (test) => {
  test('of an encrypted link no byte of a message is seen; of a plain one all are', async () => {
    for (const scheme of ['ws', 'wss', 'tls'] as const) {
      const place = await tapped(scheme);
      const seen = place.tap.seen();
      assert.ok(seen.length > UP.length + DOWN.length, 'the tap is between the two');
      const found = [UP, DOWN, Buffer.from('swordfish'), Buffer.from('HTTP/1.1'), Buffer.from(KEY)]
        .map((needle) => seen.includes(needle));
      assert.equal(found, scheme === 'ws' ? [true, true, true, true, false] : [false, false, false, false, false]);
      end(place);
    }
  });

  for (const scheme of ['wss', 'tls'] as const) {
    test(`${scheme}: the same message twice looks different`, async () => {
      const [one, two] = [await tapped(scheme), await tapped(scheme)];
      const tail = (place: Tapped): string => place.tap.seen().subarray(-DOWN.length).toString('hex');
      assert.not.equal(tail(one), tail(two));
      end(one);
      end(two);
    });

    test(`${scheme}: one bit that is changed on the way ends the link, and nothing of it is believed`, async () => {
      const place = await tapped(scheme);
      place.tap.meddle();
      place.near.send([Buffer.from('a message that is changed')]);
      await eventually(() => place.parent.closed && place.child.closed, { what: 'the end of both' });
      assert.is(place.parent.bytes, UP.length);
      end(place);
    });
  }
});
