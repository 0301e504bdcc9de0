/**
 * What every network must keep: listeners with addresses at which they can be reached, failures that are told once
 * and in words, and channels as `channel.ts` says.
 */

import type { Channel, ErrorRecord, Listener, ListenOptions, Network } from '@stci/interface';
import * as assert from '../assert.js';
import { suite } from '../suite.js';
import type { TestApi } from '../suite.js';
import { channelCompliance, Recorder } from './channel.js';
import type { ChannelComplianceOptions, Until } from './channel.js';

export interface NetworkSetup {
  readonly network: Network;
  readonly until: Until;
  /** An address of this network at which nobody listens, and which says so. */
  readonly refusing: string;
  /** An address at which connections are taken and nothing is ever answered; absent where there can be none. */
  readonly silent?: string;
  /** As in `ChannelPair`. */
  settle?(): Promise<void>;
  end?(): void | Promise<void>;
}

const LISTEN: ListenOptions = { interfaces: [], pendingMax: 16, frameBytesMax: 1024 * 1024 };

interface Listening {
  readonly setup: NetworkSetup;
  readonly listener: Listener;
  readonly accepted: Channel[];
}

async function listening(make: () => NetworkSetup | Promise<NetworkSetup>): Promise<Listening> {
  const setup = await make();
  const accepted: Channel[] = [];
  let listener: Listener | undefined;
  let failed: ErrorRecord | undefined;
  setup.network.listen(LISTEN, (channel) => accepted.push(channel), (error, made) => {
    failed = error;
    listener = made;
  });
  assert.is(listener, undefined, 'listen itself tells nothing');
  await setup.until(() => listener !== undefined || failed !== undefined, 'a listener');
  assert.is(failed, undefined);
  return { setup, listener: listener as unknown as Listener, accepted };
}

async function end({ setup, listener }: Listening): Promise<void> {
  listener.close();
  await setup.end?.();
}

/** Defines the suites `NAME: network` and `NAME: channel`. */
export function networkCompliance(
  name: string,
  make: () => NetworkSetup | Promise<NetworkSetup>,
  options: ChannelComplianceOptions = {},
): void {
  suite(`${name}: network`, (test) => {
    connectTests(test, make);
    failureTests(test, make);
  });
  channelCompliance(
    name,
    async () => {
      const place = await listening(make);
      const { until, settle } = place.setup;
      const near = place.setup.network.connect(place.listener.addresses[0] as string, 4000);
      await until(() => place.accepted.length === 1, 'the accepted end');
      return { near, far: place.accepted[0] as Channel, until, ...(settle && { settle }), end: () => end(place) };
    },
    options,
  );
}

function connectTests(test: TestApi, make: () => NetworkSetup | Promise<NetworkSetup>): void {
  test('every address of a listener takes connections, each its own channel', async () => {
    const place = await listening(make);
    const { until, network } = place.setup;
    const twice = place.listener.addresses.flatMap((address) => [address, address]);
    const ends = twice.map((address) => network.connect(address, 4000));
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
    const place = await listening(make);
    const { until, network } = place.setup;
    const address = place.listener.addresses[0] as string;
    const near = network.connect(address, 4000);
    const a = new Recorder(near);
    await until(() => place.accepted.length === 1, 'the first connection');
    place.listener.close();
    const late = new Recorder(network.connect(address, 1000));
    await until(() => late.closed, 'the refusal of the second');
    place.accepted[0]?.send([Uint8Array.of(7)]);
    await until(() => a.bytes === 1, 'bytes on the first');
    assert.equal([place.accepted.length, late.reasons.length, a.closed], [1, 1, false]);
    near.destroy('done');
    await end(place);
  });
}

function failureTests(test: TestApi, make: () => NetworkSetup | Promise<NetworkSetup>): void {
  test('a connection that is refused says so once', async () => {
    const setup = await make();
    const channel = setup.network.connect(setup.refusing, 4000);
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
      const recorder = new Recorder(setup.network.connect(setup.silent, 300));
      await setup.until(() => recorder.closed, 'the end of the deadline');
      assert.equal(recorder.reasons, ['timed out after 300 ms']);
    }
    await setup.end?.();
  });
}
