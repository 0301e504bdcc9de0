/**
 * A listener under a flood: two hundred unauthenticated peers of every kind at once, and an honest one among them. With
 * and without a key, and of streams.
 */

import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Channel, Listener } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { LISTEN_OPTIONS, Recorder } from '@stci/testkit/compliance';

const { network } = createNodePlatform();
const PENDING_MAX = 16;
const CROWD = 200;
const KEY = new Uint8Array(32).fill(6);
const UPGRADE = 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
const RIGHT = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
/** The beginning of a ClientHello, whose rest does not come. */
const HELLO = Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3);

interface Place {
  readonly listener: Listener;
  readonly port: number;
  readonly accepted: Channel[];
  readonly key: Uint8Array | undefined;
}

const PLAIN = {};
const LISTENERS = {
  'without a key': PLAIN, 'with a key': { key: KEY }, 'of streams': { key: KEY, stream: true },
} as const;

async function listen(kind: { readonly key?: Uint8Array; readonly stream?: boolean }): Promise<Place> {
  const accepted: Channel[] = [];
  let listener: Listener | undefined;
  const options = { ...LISTEN_OPTIONS, pendingMax: PENDING_MAX, frameBytesMax: 65_536, ...kind };
  network.listen(options, (channel) => accepted.push(channel), (_error, made) => (listener = made));
  await eventually(() => listener !== undefined, { what: 'a listener' });
  const stands = listener as unknown as Listener;
  return { listener: stands, accepted, key: kind.key, port: Number(new URL(stands.addresses[0] as string).port) };
}

const KINDS: readonly ((socket: Socket) => void)[] = [
  () => {}, // Says nothing.
  (socket) => drip(socket, () => UPGRADE), // Says a byte now and then.
  (socket) => drip(socket, (i) => `X-${i}: ${'y'.repeat(200)}\r\n`, UPGRADE), // Headers without an end.
  (socket) => socket.write(HELLO),
  (socket) => drip(socket, () => '\x16\x03\x01'),
];

function drip(socket: Socket, next: (i: number) => string, first = ''): void {
  socket.write(first);
  let i = 0;
  const timer = setInterval(() => {
    const text = next(i++);
    socket.write(first === '' ? (text[i % text.length] as string) : text);
  }, 10);
  socket.on('close', () => clearInterval(timer));
}

function stranger(port: number, kind: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  KINDS[kind % KINDS.length]?.(socket);
  return socket;
}

/** One attempt: whether bytes go there and back. */
async function getsIn(place: Place): Promise<boolean> {
  const channel = network.connect(place.listener.addresses[0] as string, 4000, place.key);
  const recorder = new Recorder(channel);
  channel.send([Uint8Array.of(1)]);
  const heard = new Set<Channel>();
  await eventually(() => {
    for (const far of place.accepted.filter((each) => !heard.has(each))) {
      heard.add(far);
      new Recorder(far).onChunk = (chunk) => void far.send([chunk]);
    }
    return recorder.bytes === 1 || recorder.closed;
  }, { what: 'an echo, or the end' });
  place.accepted.length = 0;
  channel.destroy('done');
  return recorder.bytes === 1;
}

for (const [what, kind] of Object.entries(LISTENERS)) {
  suite(`a listener ${what} in a crowd`, (test) => {
    test('an honest peer in the middle of a burst gets in, and of the crowd few are left', async () => {
      const place = await listen(kind);
      const crowd: Socket[] = [];
      // Spread over turns of the loop, so that the honest peer's steps fall between those of the flood.
      const burst = async (): Promise<void> => {
        for (let i = 0; i < CROWD / 2; i++) {
          crowd.push(stranger(place.port, i));
          if (i % 20 === 19) await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await burst();
      const honest = getsIn(place);
      await burst();
      assert.ok(await honest, 'at the first attempt');
      const left = () => crowd.filter((socket) => !socket.closed).length;
      await eventually(() => left() <= PENDING_MAX, { what: 'the crowd is cut to its bound' });
      assert.ok(await getsIn(place), 'and when the places are taken');
      place.listener.close();
      await eventually(() => left() === 0, { what: 'the rest goes with the listener' });
    });

    test('a crowd that comes again and again keeps nobody out', async () => {
      const place = await listen(kind);
      let goesOn = true;
      const again = (kind: number): void => {
        const socket = stranger(place.port, kind);
        socket.on('close', () => goesOn && setTimeout(() => again(kind + 1), 20));
      };
      for (let i = 0; i < CROWD / 2; i++) again(i);
      let successes = 0;
      for (let i = 0; i < 10; i++) if (await getsIn(place)) successes += 1;
      goesOn = false;
      place.listener.close();
      assert.ok(successes >= 9, `${successes} of 10 at the first attempt`);
    }, { timeoutMs: 30_000 });
  });
}

suite('a listener without a key: peers that upgrade', (test) => {
  test('cost a channel each and hold back nobody; who is to go of them, the accepting agent decides', async () => {
    const place = await listen(PLAIN);
    const sockets = Array.from({ length: 40 }, () => connect(place.port, '127.0.0.1'));
    const right = `${UPGRADE.replace('/', new URL(place.listener.addresses[0] as string).pathname)}${RIGHT}`;
    for (const socket of sockets) socket.on('error', () => {}).resume().write(right);
    await eventually(() => place.accepted.length === 40, { what: 'a channel each' });
    for (const channel of place.accepted) channel.destroy('a stranger');
    await eventually(() => sockets.every((socket) => socket.closed), { what: 'their ends' });
    place.accepted.length = 0;
    assert.ok(await getsIn(place));
    place.listener.close();
  });
});
