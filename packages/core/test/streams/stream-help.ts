/** The stream of a job over a net of nodes, root agents its members, with the events of every endpoint recorded. */

import { encode } from '../../dist/codec/cbor.js';
import type { StreamEndpoint, StreamEvents } from '../../dist/streams/stream-endpoint.js';
import { addressOf, type Net } from '../am/net.js';

export interface Heard {
  readonly ups: { data: unknown; release: () => void }[];
  readonly downs: { data: unknown; release: () => void }[];
  credits: number;
}

export interface StreamOfNet {
  /** The chunks that come are not released. */
  readonly keep?: boolean;
  readonly creditBytes?: number;
  /** Default: all nodes but the first. */
  readonly members?: readonly number[];
}

export interface Opened {
  readonly net: Net;
  readonly root: StreamEndpoint;
  /** By node, as `streams`. */
  readonly heard: readonly Heard[];
  readonly streams: readonly StreamEndpoint[];
}

export function attach(net: Net, at: number, { keep = false, creditBytes = 4 << 20, members }: StreamOfNet = {}) {
  const heard: Heard = { ups: [], downs: [], credits: 0 };
  const taking = (list: Heard['ups']) => (data: unknown, release: () => void): void => {
    list.push({ data, release });
    if (!keep) release();
  };
  const events: StreamEvents = {
    onUp: taking(heard.ups), onDown: taking(heard.downs), onCredit: () => void (heard.credits += 1),
  };
  const others = at === 0 ? (members ?? all(net.nodes.length).slice(1)).map(addressOf) : [];
  const stream = net.nodes[at]?.streams.attach({ members: others, creditBytes, check: () => undefined }, events);
  return { heard, stream: stream as StreamEndpoint };
}

/** Every node has an endpoint. */
export function open(net: Net, of?: StreamOfNet): Opened {
  const ends = net.nodes.map((_, at) => attach(net, at, of));
  const streams = ends.map(({ stream }) => stream);
  return { net, root: streams[0] as StreamEndpoint, heard: ends.map(({ heard }) => heard), streams };
}

export function up(stream: StreamEndpoint | undefined, data: unknown): boolean {
  return stream?.upPieces([encode(data)]) === true;
}

export const all = (size: number): number[] => Array.from({ length: size }, (_, i) => i);
