/**
 * Requirements on every network: listeners with reachable addresses, failures that are reported once and with a
 * message, and channels as in `channel.ts`.
 */

import { selectEviction } from '@stci/core/bootcom';
import type { Channel, ErrorRecord, Listener, ListenOptions, Network } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { patient } from '../kit/patience.js';
import { suite } from '../kit/suite.js';
import type { TestApi } from '../kit/suite.js';
import { channelCompliance, Recorder } from './channel.js';
import type { ChannelComplianceOptions, Until } from './channel.js';

export interface NetworkSetup {
  readonly network: Network;
  readonly until: Until;
  /** An address of this network (`ws:`) without a listener, which refuses connections. */
  readonly refusing: string;
  /** An address (`ws:`) that accepts connections but never answers; absent if there can be none. */
  readonly silent?: string;
  /** As in `ChannelPair`. */
  settle?(): Promise<void>;
  end?(): void | Promise<void>;
}

/** Deadline of a connection that is answered. */
const CONNECT_MS = patient(4000);
const KEY = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);

/** Kinds of listeners, by the scheme of their addresses. */
const SCHEMES = { ws: {}, wss: { key: KEY }, tls: { key: KEY, stream: true } } as const;
type Scheme = keyof typeof SCHEMES;

const keyOf = (scheme: Scheme): Uint8Array | undefined => (scheme === 'ws' ? undefined : KEY);

const withScheme = (address: string, scheme: string): string => address.replace(/^\w+:/, `${scheme}:`);

/** A listener on loopback with the runtime's eviction rule; for this suite and for tests of platforms. */
export const LISTEN_OPTIONS: ListenOptions = {
  interfaces: [], pendingMax: 16, selectEviction, frameBytesMax: 1024 * 1024,
};

type Result = ErrorRecord | undefined;

interface Listening {
  readonly setup: NetworkSetup;
  readonly listener: Listener;
  readonly accepted: Channel[];
  /** The listener's first address, or `address`, with the right key. */
  connect(address?: string, deadlineMs?: number, done?: (error: Result) => void): Channel;
}

type Make = () => NetworkSetup | Promise<NetworkSetup>;

async function listening(make: Make, scheme: Scheme): Promise<Listening> {
  const setup = await make();
  const accepted: Channel[] = [];
  let listener: Listener | undefined;
  let failed: ErrorRecord | undefined;
  const options = { ...LISTEN_OPTIONS, ...SCHEMES[scheme] };
  setup.network.listen(options, (channel) => accepted.push(channel), (error, made) => {
    failed = error;
    listener = made;
  });
  assert.is(listener, undefined, 'no event during listen itself');
  await setup.until(() => listener !== undefined || failed !== undefined, 'a listener');
  assert.is(failed, undefined);
  const stands = listener as unknown as Listener;
  const first = stands.addresses[0] as string;
  assert.match(first, new RegExp(`^${scheme}://`));
  return {
    setup,
    listener: stands,
    accepted,
    connect: (address = first, deadlineMs = CONNECT_MS, done = undefined) =>
      setup.network.connect(address, deadlineMs, keyOf(scheme), done),
  };
}

async function end({ setup, listener }: Listening): Promise<void> {
  listener.close();
  await setup.end?.();
}

/** Defines the suites `NAME SCHEME: network` and `NAME SCHEME: channel` for each scheme of addresses. */
export function networkCompliance(name: string, make: Make, options: ChannelComplianceOptions = {}): void {
  for (const scheme of ['ws', 'wss', 'tls'] as const) {
    suite(`${name} ${scheme}: network`, (test) => {
      connectTests(test, make, scheme);
      failureTests(test, make, scheme);
      if (scheme !== 'ws') keyTests(test, make, scheme);
    });
    channelCompliance(
      `${name} ${scheme}`,
      async () => {
        const place = await listening(make, scheme);
        const { until, settle } = place.setup;
        const near = place.connect();
        await until(() => place.accepted.length === 1, 'the accepted end');
        return { near, far: place.accepted[0] as Channel, until, ...(settle && { settle }), end: () => end(place) };
      },
      options,
    );
  }
}

function connectTests(test: TestApi, make: Make, scheme: Scheme): void {
  test('every address of a listener takes connections, each its own channel', async () => {
    const place = await listening(make, scheme);
    const { until } = place.setup;
    const twice = place.listener.addresses.flatMap((address) => [address, address]);
    const results: Result[] = [];
    const ends = twice.map((address) => place.connect(address, undefined, (error) => results.push(error)));
    const heard = ends.map((channel) => new Recorder(channel));
    ends.forEach((channel, i) => channel.send([Uint8Array.of(i)]));
    assert.equal(results, [], 'no event during connect itself');
    await until(() => place.accepted.length === ends.length, 'all connections');
    for (const channel of place.accepted) {
      const recorder = new Recorder(channel);
      recorder.onChunk = (chunk) => channel.send([chunk]);
    }
    await until(() => heard.every((recorder) => recorder.bytes === 1), 'an echo on each');
    assert.equal(heard.map((recorder) => recorder.chunks[0]?.[0]), ends.map((_, i) => i));
    assert.equal(results, ends.map(() => undefined));
    const kind = scheme === 'tls' ? 'tls' : 'ws';
    assert.equal([...ends, ...place.accepted].map((channel) => channel.kind), [...twice, ...twice].map(() => kind));
    for (const channel of ends) channel.destroy('done');
    await end(place);
  });

  test('that it is established is told before what the acceptor sends at once, and before its end', async () => {
    const place = await listening(make, scheme);
    const { until } = place.setup;
    const events: string[] = [];
    const near = place.connect(undefined, undefined, (error) => events.push(error?.message ?? 'established'));
    near.bind({
      onData: (chunk) => events.push(`byte ${chunk[0]}`),
      onDrain: () => undefined,
      onClose: () => events.push('closed'),
    });
    await until(() => place.accepted.length === 1, 'the connection');
    place.accepted[0]?.send([Uint8Array.of(5)]);
    place.accepted[0]?.close();
    await until(() => events.includes('closed'), 'its end');
    assert.equal(events, ['established', 'byte 5', 'closed']);
    await end(place);
  });

  test('a closed listener takes no more; its channels live on', async () => {
    const place = await listening(make, scheme);
    const { until } = place.setup;
    const near = place.connect();
    const a = new Recorder(near);
    await until(() => place.accepted.length === 1, 'the first connection');
    place.listener.close();
    const late = new Recorder(place.connect(undefined, CONNECT_MS));
    await until(() => late.closed, 'the refusal of the second');
    place.accepted[0]?.send([Uint8Array.of(7)]);
    await until(() => a.bytes === 1, 'bytes on the first');
    assert.equal([place.accepted.length, late.reasons.length, a.closed], [1, 1, false]);
    near.destroy('done');
    await end(place);
  });
}

function failureTests(test: TestApi, make: Make, scheme: Scheme): void {
  /** A connection that fails for `reason`. */
  const fails = async (setup: NetworkSetup, address: string, deadlineMs: number, reason: string, reach: string) => {
    const events: unknown[] = [];
    const channel = setup.network.connect(address, deadlineMs, keyOf(scheme), (error) =>
      events.push([error?.code, error?.data?.['reach'], error?.data?.['reason']]));
    channel.send([Uint8Array.of(1)]);
    channel.bind({ onData: () => undefined, onDrain: () => undefined, onClose: (why) => events.push(why) });
    assert.equal(events, [], 'connect and bind tell nothing themselves');
    await setup.until(() => events.length >= 2, 'the failure');
    await setup.settle?.();
    assert.equal(events, [['STCI_LINK_UNREACHABLE', reach, reason], reason]);
  };

  test('a refused connection is reported once: nobody listens', async () => {
    const setup = await make();
    await fails(setup, withScheme(setup.refusing, scheme), CONNECT_MS, 'connection refused', 'dead');
    await setup.end?.();
  });

  test('a connection that is not answered ends at its deadline', async () => {
    const setup = await make();
    if (setup.silent !== undefined) {
      await fails(setup, withScheme(setup.silent, scheme), 300, 'timed out after 300 ms', 'unreachable');
    }
    await setup.end?.();
  });

  test('of an attempt that is given up only the end is reported', async () => {
    const setup = await make();
    const results: Result[] = [];
    for (const address of [setup.refusing, setup.silent ?? setup.refusing]) {
      const channel = setup.network.connect(withScheme(address, scheme), 200, keyOf(scheme), (e) => results.push(e));
      const recorder = new Recorder(channel);
      channel.destroy('given up');
      await setup.until(() => recorder.closed, 'its end');
      assert.equal(recorder.reasons, ['given up']);
    }
    await fails(setup, withScheme(setup.refusing, scheme), CONNECT_MS, 'connection refused', 'dead');
    assert.equal(results, []);
    await setup.end?.();
  });
}

function keyTests(test: TestApi, make: Make, scheme: Scheme): void {
  test('a client without the key, or with another, is refused; the right one is served after', async () => {
    const place = await listening(make, scheme);
    const { until, network } = place.setup;
    const address = place.listener.addresses[0] as string;
    const other = KEY.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
    const results: Result[] = [];
    const connect = (at: string, key?: Uint8Array) =>
      network.connect(at, CONNECT_MS, key, (error) => results.push(error));
    const attempts = [
      connect(address),
      connect(withScheme(address, 'ws')),
      connect(withScheme(address, 'ws'), KEY),
      connect(address, other),
      connect(address, new Uint8Array(32)),
    ];
    const heard = attempts.map((channel) => new Recorder(channel));
    for (const channel of attempts) channel.send([Uint8Array.of(1)]);
    await until(() => heard.every((recorder) => recorder.closed), 'the end of each');
    assert.equal(place.accepted.length, 0, 'none was accepted');
    assert.equal(heard.map(({ reasons, bytes }) => [reasons.length, bytes]), attempts.map(() => [1, 0]));
    assert.is(results.filter((error) => error?.code === 'STCI_LINK_UNREACHABLE').length, attempts.length);
    const near = new Recorder(place.connect());
    await until(() => place.accepted.length === 1, 'the right one');
    place.accepted[0]?.send([Uint8Array.of(7)]);
    await until(() => near.bytes === 1, 'a byte for it');
    place.accepted[0]?.destroy('done');
    await end(place);
  });

  test('a key that the listener does not have is of no use', async () => {
    const place = await listening(make, 'ws');
    const { until, network } = place.setup;
    const address = withScheme(place.listener.addresses[0] as string, scheme);
    const heard = new Recorder(network.connect(address, CONNECT_MS, KEY));
    await until(() => heard.closed, 'its end');
    assert.equal([place.accepted.length, heard.bytes], [0, 0]);
    await end(place);
  });

  if (scheme !== 'tls') return;
  test('there is no listener for streams without a key', async () => {
    const setup = await make();
    const errors: Result[] = [];
    setup.network.listen({ ...LISTEN_OPTIONS, stream: true }, () => undefined, (error) => errors.push(error));
    await setup.until(() => errors.length > 0, 'the refusal');
    assert.equal(errors.map((error) => error?.code), ['STCI_LISTEN_FAILED']);
    await setup.end?.();
  });
}
