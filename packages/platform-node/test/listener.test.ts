/** Unauthenticated peers of a listener have no lasting effect. Seeded bytes, half requests, floods, silence. */

import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import type { Channel, ErrorRecord, Listener, ListenOptions } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { LISTEN_OPTIONS, Recorder } from '@stci/testkit/compliance';
import { listenAddresses } from '../dist/sockets/addresses.js';
import { PendingSockets } from '../dist/sockets/pending-sockets.js';
import { createRandom } from '../dist/system/random.js';

const { network } = createNodePlatform();
const OPTIONS: ListenOptions = { ...LISTEN_OPTIONS, pendingMax: 8, frameBytesMax: 65_536 };
const UPGRADE = 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';

interface Place {
  readonly listener: Listener;
  readonly port: number;
  readonly accepted: Channel[];
}

function listen(options: Partial<ListenOptions> = {}): Promise<Place> {
  const accepted: Channel[] = [];
  return new Promise((resolve, reject) => {
    network.listen({ ...OPTIONS, ...options }, (channel) => accepted.push(channel), (error, listener) => {
      if (listener === undefined) return reject(error);
      resolve({ listener, accepted, port: Number(new URL(listener.addresses[0] as string).port) });
    });
  });
}

function dial(port: number, ...bytes: (string | Uint8Array)[]): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  for (const each of bytes) socket.write(each);
  return socket;
}

/** What a peer sends that has the listener's address; another path: one that has found the port only. */
function rightUpgrade({ listener }: Place, path = new URL(listener.addresses[0] as string).pathname): string {
  const rest = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
  return `${UPGRADE.replace('/', path)}${rest}`;
}

/** An honest connection works: bytes go there and back. */
async function works(place: Place, key?: Uint8Array): Promise<void> {
  const count = place.accepted.length;
  const channel = network.connect(place.listener.addresses[0] as string, 3000, key);
  const recorder = new Recorder(channel);
  await eventually(() => place.accepted.length > count, { what: 'an honest connection is taken' });
  place.accepted[count]?.send([Uint8Array.of(1)]);
  await eventually(() => recorder.bytes === 1, { what: 'a byte over it' });
  channel.destroy('done');
  place.accepted[count]?.destroy('done');
}

const KEY = new Uint8Array(32).fill(7);
const ALL = ['0.0.0.0', '::'];

suite('stream listener', (test) => {
  test('what is not TLS with the key becomes no channel and is dropped; the right one is served', async () => {
    const place = await listen({ key: KEY, stream: true });
    const random = createRandom(8);
    const garbage = (length: number) => Uint8Array.from({ length }, () => random.integer(256));
    const sockets = [
      ...Array.from({ length: 10 }, (_, i) => dial(place.port, garbage(8 + i * 500))),
      dial(place.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      secureConnect({ port: place.port, rejectUnauthorized: false }).on('error', () => {}),
      secureConnect({ port: place.port, ciphers: 'PSK', maxVersion: 'TLSv1.2',
        pskCallback: () => ({ psk: KEY, identity: 'another' }) }).on('error', () => {}),
    ];
    await eventually(() => sockets.every((socket) => socket.closed), { what: 'all of them were dropped' });
    assert.is(place.accepted.length, 0);
    await works(place, KEY);
    place.listener.close();
  });

  test('of another key the connecting end is told in a line', async () => {
    for (const stream of [true, false]) {
      const place = await listen({ key: KEY, stream });
      const [at, told] = [place.listener.addresses[0] as string, [] as string[]];
      const tell = (error?: ErrorRecord): void => void told.push(`${error?.message}`);
      const other = new Recorder(network.connect(at, 3000, new Uint8Array(32), tell));
      await eventually(() => other.closed, { what: 'the refusal' });
      const why = 'another key, or changed data (TLS: bad record mac)';
      assert.equal([other.reasons, told], [[why], [`Cannot connect to ${at}: ${why}.`]]);
      place.listener.close();
    }
  });

  test('bytes that come with the end of the handshake, in one write with it, are the channel\'s', async () => {
    const place = await listen({ key: KEY, stream: true });
    const near = network.connect(place.listener.addresses[0] as string, 3000, KEY);
    near.send([Uint8Array.of(1, 2, 3)]);
    near.close();
    await eventually(() => place.accepted.length === 1, { what: 'the channel' });
    const recorder = new Recorder(place.accepted[0] as Channel);
    await eventually(() => recorder.closed, { what: 'its end' });
    assert.equal([recorder.bytes, recorder.reasons], [3, ['end of file']]);
    place.listener.close();
  });

  test('an address that is none is a reason, not an exception', async () => {
    const reasons: unknown[] = [];
    for (const address of ['tls://', 'tls://h', 'tls://h:1/path', 'tls://[::1:1', 'tls://h:70000', 'tls://h:x']) {
      network.connect(address, 3000, KEY, (error) => reasons.push(error?.data?.['reach'])).bind(
        { onData: () => undefined, onDrain: () => undefined, onClose: (reason) => reasons.push(reason.slice(0, 8)) });
    }
    await eventually(() => reasons.length === 12, { what: 'the reasons' });
    assert.equal(reasons, Array.from({ length: 6 }, () => ['unreachable', 'expected']).flat());
  });
});

suite('ws listener', (test) => {
  test('drops garbage and goes on', async () => {
    const place = await listen();
    const random = createRandom(7);
    const garbage = (length: number) => Uint8Array.from({ length }, () => random.integer(256));
    const sockets = [
      ...Array.from({ length: 20 }, (_, i) => dial(place.port, garbage(1 + i * 500))),
      dial(place.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      dial(place.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n', garbage(10_000)),
      dial(place.port, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'),
      dial(place.port, `${UPGRADE}Sec-WebSocket-Version: 99\r\n\r\n`),
      dial(place.port, `${UPGRADE}\r\n`),
      dial(place.port, `${UPGRADE}X: ${'y'.repeat(100_000)}\r\n\r\n`),
    ];
    await eventually(() => sockets.every((socket) => socket.closed), { what: 'all of them were dropped' });
    assert.is(place.accepted.length, 0);
    await works(place);
    place.listener.close();
  });

  test('a crowd that says nothing, or half of it, keeps nobody out', async () => {
    const place = await listen();
    const crowd = Array.from({ length: 60 }, (_, i) => (i % 2 ? dial(place.port) : dial(place.port, UPGRADE)));
    await eventually(() => crowd.filter((socket) => socket.closed).length >= 60 - OPTIONS.pendingMax, {
      what: 'those above the limit were dropped',
    });
    await works(place);
    place.listener.close();
    await eventually(() => crowd.every((socket) => socket.closed), { what: 'the rest goes with the listener' });
  });

  test('who asks for another path than that of the address gets neither a channel nor an answer', async () => {
    const [place, other] = [await listen(), await listen()];
    let answered = 0;
    const count = (chunk: Buffer): void => void (answered += chunk.length);
    const { pathname } = new URL(other.listener.addresses[0] as string);
    const sockets = ['/', '/0', pathname].map((path) => dial(place.port, rightUpgrade(place, path)).on('data', count));
    await eventually(() => sockets.every((socket) => socket.closed), { what: 'they are dropped' });
    assert.equal([place.accepted.length, answered], [0, 0]);
    await works(place);
    place.listener.close();
    other.listener.close();
  });

  test('garbage behind a right upgrade, or a message too long, closes that channel alone', async () => {
    const place = await listen();
    const upgrade = rightUpgrade(place);
    // An unmasked frame; masked ones of 2^40 bytes and of 1 MiB, of which nothing comes.
    dial(place.port, upgrade, Uint8Array.of(0x82, 0x01, 0x00));
    dial(place.port, upgrade, Uint8Array.of(0x82, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4));
    dial(place.port, upgrade, Uint8Array.of(0x82, 0xff, 0, 0, 0, 0, 0, 0x10, 0, 0, 1, 2, 3, 4));
    await eventually(() => place.accepted.length === 3, { what: 'three channels' });
    const recorders = place.accepted.map((channel) => new Recorder(channel));
    await eventually(() => recorders.every(({ closed }) => closed), { what: 'all closed' });
    assert.equal(recorders.map(({ bytes, afterClose }) => [bytes, afterClose]), [[0, ''], [0, ''], [0, '']]);
    await works(place);
    place.listener.close();
  });

  test('a message in fragments closes its channel; a ping is not answered', async () => {
    const place = await listen();
    const upgrade = rightUpgrade(place);
    const fragments = Uint8Array.of(0x02, 0x81, 0, 0, 0, 0, 1, 0x00, 0x81, 0, 0, 0, 0, 2, 0x80, 0x81, 0, 0, 0, 0, 3);
    dial(place.port, upgrade, fragments);
    let answered = 0;
    const pinging = dial(place.port, upgrade).on('data', (chunk: Buffer) => (answered += chunk.length));
    await eventually(() => place.accepted.length === 2 && answered > 0, { what: 'two channels, and the upgrade' });
    const [first, second] = place.accepted.map((channel) => new Recorder(channel));
    const before = answered;
    // Thirty pings, then a message of one byte: when it is here, the pings were.
    pinging.write(Uint8Array.from({ length: 30 * 6 }, (_, i) => [0x89, 0x80, 0, 0, 0, 0][i % 6] as number));
    pinging.write(Uint8Array.of(0x82, 0x81, 0, 0, 0, 0, 7));
    const bytes = () => [first?.bytes, second?.bytes];
    await eventually(() => [first, second].some((each) => each?.closed === true) && bytes().includes(1), {
      what: 'the end of the one, a byte of the other',
    });
    place.accepted.forEach((channel) => channel.send([Uint8Array.of(9)]));
    await eventually(() => answered > before, { what: 'a byte back' });
    assert.equal([answered - before, bytes().sort()], [3, [0, 1]], 'a header of two bytes and a byte');
    place.listener.close();
    pinging.destroy();
  });

  test('takes a port of the range, the next where one is taken, and says when none is left', async () => {
    const first = await listen();
    const range = [first.port, first.port] as const;
    const error = await listen({ ports: range }).then(() => undefined, (thrown: ErrorRecord) => thrown);
    assert.is(error?.code, 'STCI_LISTEN_FAILED');
    assert.match(error?.message ?? '', new RegExp(`Cannot listen on ws://127.0.0.1:${first.port}: no port is free`));
    const second = await listen({ ports: [first.port, Math.min(first.port + 50, 65_535)] });
    assert.ok(second.port > first.port);
    first.listener.close();
    second.listener.close();
  });

  test('listens on interfaces by name and refuses unknown ones', async () => {
    const place = await listen({ interfaces: ['lo'] });
    assert.match(place.listener.addresses[0] as string, /^ws:\/\/127\.0\.0\.1:\d+\/[\da-f]{24}$/);
    place.listener.close();
    const refused = (name: string) =>
      listen({ interfaces: [name] }).then(() => undefined, (thrown: ErrorRecord) => thrown);
    assert.match((await refused('nope0'))?.message ?? '', /'nope0'.*interfaces \(.*lo/);
    assert.is((await refused('192.0.2.1'))?.code, 'STCI_LISTEN_FAILED');
  });

  test('all addresses of a machine: those that others reach first; a family may be missing, but not all', () => {
    const v4 = { name: 'eth0', address: '10.0.0.3', family: 'IPv4', internal: false };
    const v6 = { name: 'eth0', address: '2001:db8::3', family: 'IPv6', internal: false };
    assert.equal(listenAddresses(ALL, [v4, v6]), ['10.0.0.3', '2001:db8::3']);
    assert.equal(listenAddresses(ALL, [v6]), ['2001:db8::3']);
    assert.equal(listenAddresses(ALL, [v4]), ['10.0.0.3']);
    for (const [wish, all] of [[ALL, []], [['::'], [v4]], [[...ALL, 'ib0'], [v4]]] as const) {
      assert.throwsCode('STCI_LISTEN_FAILED', () => listenAddresses(wish, all));
    }
  });

  test('both families: one port at all addresses, and a peer of IPv4 is one', async () => {
    const place = await listen({ interfaces: ALL, key: KEY, stream: true });
    const { addresses } = place.listener;
    const hosts = addresses.map((address) => new URL(address).hostname.replace(/[[\]]/g, ''));
    assert.equal([new Set(addresses.map((address) => new URL(address).port)).size, hosts], [1, listenAddresses(ALL)]);
    for (const [i, address] of addresses.entries()) {
      const near = network.connect(address, 3000, KEY);
      await eventually(() => place.accepted.length === i + 1, { what: `a connection to ${address}` });
      const label = (place.accepted[i] as Channel).label;
      assert.is(label.includes('['), address.includes('['), label);
      near.destroy('done');
    }
    const ports = [place.port, place.port] as const;
    const taken = await listen({ interfaces: ALL, ports }).catch((error: ErrorRecord) => error);
    assert.match((taken as ErrorRecord).message, /^Cannot listen on ws:\/\/\*:\d+: no port is free/);
    place.listener.close();
  });

  test('a bad address and an unknown host are reasons, not exceptions', async () => {
    const bad = new Recorder(network.connect('no address', 1000));
    const unknown = new Recorder(network.connect('ws://no-such-host.invalid:1', 3000));
    await eventually(() => bad.closed && unknown.closed, { what: 'both reasons' });
    assert.match(bad.reasons[0] ?? '', /^Invalid URL/);
    assert.match(unknown.reasons[0] ?? '', /^(host not found|timed out after 3000 ms|getaddrinfo)/);
  });

  test('a pending socket has little time', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const pending = new PendingSockets(2, LISTEN_OPTIONS.selectEviction, 50);
    server.on('connection', (socket) => pending.add(socket));
    const slow = dial((server.address() as { port: number }).port);
    await eventually(() => slow.closed, { what: 'its end' });
    assert.is(pending.count, 0);
    server.close();
  });
});
