/** Requirements on private sockets of every platform: listeners, named failures, and channels as in `channel.ts`. */

import { selectEviction } from '@stci/core/bootcom';
import type { Channel, ErrorRecord, Network, PrivateListener } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { patient } from '../kit/patience.js';
import { suite } from '../kit/suite.js';
import { channelCompliance, Recorder } from './channel.js';
import type { ChannelComplianceOptions, Until } from './channel.js';

export interface PrivateNetworkSetup {
  readonly network: Network;
  readonly until: Until;
  /** As in `ChannelPair`. */
  settle?(): Promise<void>;
  end?(): void | Promise<void>;
}

type Result = ErrorRecord | undefined;

const OPTIONS = { prefix: 'test', pendingMax: 16, selectEviction };
const CONNECT_MS = patient(4000);

/** A listener on `network`, and the channels that it has accepted. */
export async function privateListener(
  network: Network,
  until: Until,
): Promise<PrivateListener & { readonly accepted: readonly Channel[] }> {
  const accepted: Channel[] = [];
  let listener: PrivateListener | undefined;
  let failed: ErrorRecord | undefined;
  network.listenPrivate(OPTIONS, (channel) => accepted.push(channel), (error, made) => {
    failed = error;
    listener = made;
  });
  assert.is(listener, undefined, 'no event during listen itself');
  await until(() => listener !== undefined || failed !== undefined, 'a listener');
  assert.is(failed, undefined);
  const { path, close } = listener as unknown as PrivateListener;
  return { path, close, accepted };
}

/** Defines the suites `NAME: private network` and `NAME: channel`. */
export function privateNetworkCompliance(
  name: string,
  make: () => PrivateNetworkSetup | Promise<PrivateNetworkSetup>,
  options: ChannelComplianceOptions = {},
): void {
  suite(`${name}: private network`, (test) => {
    test('each connection is its own channel; a closed listener is dead, its channels live on', async () => {
      const { network, until, end } = await make();
      const listener = await privateListener(network, until);
      const other = await privateListener(network, until);
      assert.is.not(listener.path, other.path);
      const results: Result[] = [];
      const ends = [0, 1].map(() => network.connectPrivate(listener.path, CONNECT_MS, (error) => results.push(error)));
      const heard = ends.map((channel) => new Recorder(channel));
      ends.forEach((channel, i) => channel.send([Uint8Array.of(i)]));
      await until(() => listener.accepted.length === 2, 'both connections');
      for (const channel of listener.accepted) new Recorder(channel).onChunk = (chunk) => channel.send([chunk]);
      await until(() => heard.every((recorder) => recorder.bytes === 1), 'an echo on each');
      assert.equal(heard.map((recorder) => recorder.chunks[0]?.[0]), [0, 1]);
      assert.equal(results, [undefined, undefined]);
      assert.equal([ends[0]?.kind, listener.accepted[0]?.kind, other.accepted.length], ['unix', 'unix', 0]);
      listener.close();
      const errors: Result[] = [];
      const late = new Recorder(network.connectPrivate(listener.path, CONNECT_MS, (error) => errors.push(error)));
      await until(() => late.closed, 'the refusal');
      assert.equal([late.reasons, errors.map((error) => error?.data?.['reach'])], [['connection refused'], ['dead']]);
      ends[1]?.send([Uint8Array.of(7)]);
      await until(() => heard[1]?.bytes === 2, 'bytes on a channel that was open');
      for (const channel of ends) channel.destroy('done');
      other.close();
      await end?.();
    });

    test('a path at which nobody ever listened is reported once, as dead', async () => {
      const { network, until, end } = await make();
      const { path, close } = await privateListener(network, until);
      const errors: Result[] = [];
      const channel = network.connectPrivate(`${path}x`, CONNECT_MS, (error) => errors.push(error));
      channel.send([Uint8Array.of(1)]);
      const recorder = new Recorder(channel);
      assert.equal([recorder.closed, errors.length], [false, 0], 'connect and bind tell nothing themselves');
      await until(() => recorder.closed, 'the refusal');
      assert.equal(recorder.reasons, ['connection refused']);
      assert.equal(errors.map((error) => [error?.code, error?.data?.['reach']]), [['STCI_LINK_UNREACHABLE', 'dead']]);
      close();
      await end?.();
    });
  });
  channelCompliance(
    name,
    async () => {
      const { network, until, settle, end } = await make();
      const listener = await privateListener(network, until);
      const near = network.connectPrivate(listener.path, CONNECT_MS);
      await until(() => listener.accepted.length === 1, 'the accepted end');
      const far = listener.accepted[0] as Channel;
      const endAll = async (): Promise<void> => {
        listener.close();
        await end?.();
      };
      return { near, far, until, ...(settle && { settle }), end: endAll };
    },
    options,
  );
}
