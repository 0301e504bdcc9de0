/** Streams over a net of nodes, with the events of every endpoint recorded. */

import type { Reduction, Stream, StciError, StreamEvents, StreamSpec } from '@stci/interface';
import { assert } from '@stci/testkit';
import { addressOf, type Net } from './net.js';

export interface Heard {
  readonly ups: { data: unknown; source: number; release: () => void }[];
  readonly downs: { data: unknown; release: () => void }[];
  readonly faults: StciError[];
  credits: number;
}

export function listener(keep = false): { heard: Heard; events: StreamEvents } {
  const heard: Heard = { ups: [], downs: [], faults: [], credits: 0 };
  const events: StreamEvents = {
    onUp: (data, source, release) => {
      heard.ups.push({ data, source, release });
      if (!keep) release();
    },
    onDown: (data, release) => {
      heard.downs.push({ data, release });
      if (!keep) release();
    },
    onCredit: () => void (heard.credits += 1),
    onFault: (error) => void heard.faults.push(error),
  };
  return { heard, events };
}

export interface Opened {
  readonly net: Net;
  readonly root: Stream;
  readonly heard: readonly Heard[];
  /** By node; that of the root is `root`. */
  readonly streams: readonly (Stream | undefined)[];
}

export function specOf(members: readonly number[], topology: string, reduction: Reduction, id = 2): StreamSpec {
  return { id, members: members.map(addressOf), topology, reduction };
}

/** Opens a stream over nodes, its root the first of the spec's members, node `rootAt`. */
export function open(net: Net, spec: StreamSpec, rootAt = 0, keep = false): Opened {
  const heard: Heard[] = [];
  const streams: (Stream | undefined)[] = [];
  net.nodes.forEach((node, i) => {
    const own = listener(keep);
    heard.push(own.heard);
    node.streams.accept((stream) => {
      streams[i] = stream;
      return own.events;
    });
  });
  const rootListener = listener(keep);
  heard[rootAt] = rootListener.heard;
  const done: (StciError | undefined)[] = [];
  let root: Stream | undefined;
  net.nodes[rootAt]?.streams.open(spec, rootListener.events, (error, stream) => {
    done.push(error);
    root = stream;
  });
  net.until(() => done.length > 0, 'the stream');
  assert.equal(done, [undefined]);
  streams[rootAt] = root;
  return { net, root: root as Stream, heard, streams };
}

export const all = (size: number): number[] => Array.from({ length: size }, (_, i) => i);
