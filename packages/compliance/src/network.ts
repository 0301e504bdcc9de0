/**
 * Requirements on every network: listeners with reachable addresses, failures that are reported once and with a
 * message, and channels as in `channel.ts`.
 */

import { selectEviction } from '@stci/core/bootcom';
import type { Channel, ErrorRecord, Listener, ListenOptions, Network } from '@stci/interface';
import * as assert from './assert.js';
import { suite } from './suite.js';
import type { TestApi } from './suite.js';
import { channelCompliance, Recorder } from './channel.js';
import type { ChannelComplianceOptions, Until } from './channel.js';

export interface NetworkSetup {
  readonly network: Network;
  readonly until: Until;
  /** An address of this network without a listener, which refuses connections. */
  readonly refusing: string;
  /** An address that accepts connections but never answers; absent if there can be none. */
  readonly silent?: string;
  /** As in `ChannelPair`. */
  settle?(): Promise<void>;
  end?(): void | Promise<void>;
}

const KEY = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);

/** A listener on loopback with the runtime's eviction rule; for this suite and for tests of platforms. */
export const LISTEN_OPTIONS: ListenOptions = {
  interfaces: [], pendingMax: 16, selectEviction, frameBytesMax: 1024 * 1024,
};

interface Listening {
  readonly setup: NetworkSetup;
  readonly listener: Listener;
  readonly accepted: Channel[];
  /** The listener's first address, or `address`, with the right key. */
  connect(address?: string, deadlineMs?: number): Channel;
}

type Make = () => NetworkSetup | Promise<NetworkSetup>;

async function listening(make: Make, key?: Uint8Array): Promise<Listening> {
  const setup = await make();
  const accepted: Channel[] = [];
  let listener: Listener | undefined;
  let failed: ErrorRecord | undefined;
  const options = { ...LISTEN_OPTIONS, ...(key && { key }) };
  setup.network.listen(options, (channel) => accepted.push(channel), (error, made) => {
    failed = error;
    listener = made;
  });
  assert.is(listener, undefined, 'no event during listen itself');
  await setup.until(() => listener !== undefined || failed !== undefined, 'a listener');
  assert.is(failed, undefined);
  const stands = listener as unknown as Listener;
  const first = stands.addresses[0] as string;
  const connect = (address = first, deadlineMs = 4000): Channel => setup.network.connect(address, deadlineMs, key);
  return { setup, listener: stands, accepted, connect };
}

async function end({ setup, listener }: Listening): Promise<void> {
  listener.close();
  await setup.end?.();
}

/** Defines the suites `NAME: network` and `NAME: channel`, and both with a key: `NAME with a key: …`. */
export function networkCompliance(name: string, make: Make, options: ChannelComplianceOptions = {}): void {
  for (const key of [undefined, KEY]) {
    const what = key === undefined ? name : `${name} with a key`;
    suite(`${what}: network`, (test) => {
      connectTests(test, make, key);
      failureTests(test, make, key);
      if (key !== undefined) keyTests(test, make);
    });
    channelCompliance(
      what,
      async () => {
        const place = await listening(make, key);
        const { until, settle } = place.setup;
        const near = place.connect();
        await until(() => place.accepted.length === 1, 'the accepted end');
        return { near, far: place.accepted[0] as Channel, until, ...(settle && { settle }), end: () => end(place) };
      },
      options,
    );
  }
}

function connectTests(test: TestApi, make: Make, key: Uint8Array | undefined): void {
  test('every address of a listener takes connections, each its own channel', async () => {
    const place = await listening(make, key);
    const { until } = place.setup;
    const twice = place.listener.addresses.flatMap((address) => [address, address]);
    const ends = twice.map((address) => place.connect(address));
    const heard = ends.map((channel) => new Recorder(channel));
    ends.forEach((channel, i) => channel.send([Uint8Array.of(i)]));
    await until(() => place.accepted.length === ends.length, 'all connections');
    for (const channel of place.accepted) {
      const recorder = new Recorder(channel);
      recorder.onChunk = (chunk) => channel.send([chunk]);
    }
    await until(() => heard.every((recorder) => recorder.bytes === 1), 'an echo on each');
    assert.equal(heard.map((recorder) => recorder.chunks[0]?.[0]), ends.map((_, i) => i));
    for (const channel of ends) channel.destroy('done');
    await end(place);
  });

  test('a closed listener takes no more; its channels live on', async () => {
    const place = await listening(make, key);
    const { until } = place.setup;
    const near = place.connect();
    const a = new Recorder(near);
    await until(() => place.accepted.length === 1, 'the first connection');
    place.listener.close();
    const late = new Recorder(place.connect(undefined, 1000));
    await until(() => late.closed, 'the refusal of the second');
    place.accepted[0]?.send([Uint8Array.of(7)]);
    await until(() => a.bytes === 1, 'bytes on the first');
    assert.equal([place.accepted.length, late.reasons.length, a.closed], [1, 1, false]);
    near.destroy('done');
    await end(place);
  });
}

function failureTests(test: TestApi, make: Make, key: Uint8Array | undefined): void {
  const at = (address: string): string => (key === undefined ? address : address.replace('ws:', 'wss:'));
  test('a refused connection is reported once', async () => {
    const setup = await make();
    const channel = setup.network.connect(at(setup.refusing), 4000, key);
    channel.send([Uint8Array.of(1)]);
    const recorder = new Recorder(channel);
    assert.ok(!recorder.closed, 'connect and bind tell nothing themselves');
    await setup.until(() => recorder.closed, 'the refusal');
    assert.equal(recorder.reasons, ['connection refused']);
    await setup.end?.();
  });

  test('a connection that is not answered ends at its deadline', async () => {
    const setup = await make();
    if (setup.silent !== undefined) {
      const recorder = new Recorder(setup.network.connect(at(setup.silent), 300, key));
      await setup.until(() => recorder.closed, 'the end of the deadline');
      assert.equal(recorder.reasons, ['timed out after 300 ms']);
    }
    await setup.end?.();
  });
}

function keyTests(test: TestApi, make: Make): void {
  test('a client without the key, or with another, is refused; the right one is served after', async () => {
    const place = await listening(make, KEY);
    const { until, network } = place.setup;
    const address = place.listener.addresses[0] as string;
    assert.match(address, /^wss:/);
    const other = KEY.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
    const attempts = [
      network.connect(address, 1000),
      network.connect(address.replace('wss:', 'ws:'), 1000),
      network.connect(address.replace('wss:', 'ws:'), 1000, KEY),
      network.connect(address, 1000, other),
      network.connect(address, 1000, new Uint8Array(32)),
    ];
    const heard = attempts.map((channel) => new Recorder(channel));
    for (const channel of attempts) channel.send([Uint8Array.of(1)]);
    await until(() => heard.every((recorder) => recorder.closed), 'the end of each');
    assert.equal(place.accepted.length, 0, 'none was accepted');
    assert.equal(heard.map(({ reasons, bytes }) => [reasons.length, bytes]), attempts.map(() => [1, 0]));
    const near = new Recorder(place.connect());
    await until(() => place.accepted.length === 1, 'the right one');
    place.accepted[0]?.send([Uint8Array.of(7)]);
    await until(() => near.bytes === 1, 'a byte for it');
    place.accepted[0]?.destroy('done');
    await end(place);
  });

  test('a key that the listener does not have is of no use', async () => {
    const place = await listening(make);
    const { until, network } = place.setup;
    const address = (place.listener.addresses[0] as string).replace('ws:', 'wss:');
    const heard = new Recorder(network.connect(address, 1000, KEY));
    await until(() => heard.closed, 'its end');
    assert.equal([place.accepted.length, heard.bytes], [0, 0]);
    await end(place);
  });
}
