/**
 * Stream layer (STCI paper, II-E.2c): overlays over agents, with data up to the root and down to the members along the
 * stream's tree, under credit. Without a reduction, a contribution is addressed to the root, and the agents on its
 * route read the header only. With one, it goes from member to member, a round at a time.
 *
 * The default stream's tree is the boot tree itself (topology `boot`): every agent forwards data on its way down
 * to all links below it.
 */

import {
  DEFAULT_STREAM,
  StciError,
  addressName,
  type Address,
  type JobId,
  type Stream,
  type StreamEvents,
  type StreamId,
  type StreamSpec,
} from '@stci/interface';
import { Reassembly } from '../am/fragments.js';
import { SUBTREE } from '../am/transport.js';
import type { Link } from '../bootcom/link.js';
import { decodeHeader, type Frame } from '../codec/frame.js';
import { EarlyFrames } from './early-frames.js';
import { StreamEndpoint, type StreamLayerInit, type StreamOptions } from './stream-endpoint.js';

const STREAM_ID_MAX = 0xffff;

export class StreamLayer {
  readonly init: StreamLayerInit;
  /** By `streamKey`. */
  readonly #streams = new Map<number, StreamEndpoint>();
  readonly #reassembly: Reassembly;
  #acceptor: ((stream: Stream) => StreamEvents) | undefined;
  readonly #early: EarlyFrames;

  constructor(init: StreamLayerInit) {
    this.init = init;
    const { clock, limits } = init;
    const { messageBytesMax, requestTimeoutMs } = limits;
    this.#reassembly = new Reassembly(clock, messageBytesMax, requestTimeoutMs, (error) => init.onFault(error));
    this.#early = new EarlyFrames(requestTimeoutMs);
    init.holds.holdAll(() => [...this.#streams.values()].map(({ spec: { id, job } }) => `stream ${id} of job ${job}`));
    init.messages.on('stream.open', (spec, { source, job }) => this.#onOpen({ ...spec, job }, source));
    init.messages.on('stream.close', ({ stream }, { source, job }) => this.#onClose(stream, job, source));
  }

  /** Bytes of frames that came before their stream was open. */
  get earlyBytes(): number {
    return this.#early.bytes;
  }

  /** Accepts streams that other agents open: called with this agent's endpoint. */
  accept(acceptor: (stream: Stream) => StreamEvents): void {
    this.#acceptor = acceptor;
  }

  /** Opens this agent's endpoint only; the other endpoints are opened by other means. */
  attach(
    spec: StreamSpec,
    events: StreamEvents | ((stream: Stream) => StreamEvents),
    options: StreamOptions = {},
  ): StreamEndpoint {
    const job = spec.job ?? this.init.messages.ownJob;
    const key = streamKey(spec.id, job);
    if (this.#streams.has(key)) {
      throw new StciError('STCI_STREAM_INVALID', `Stream ${spec.id} is open already`);
    }
    const endpoint = new StreamEndpoint(this.init, { ...spec, job }, events, options, () => this.#streams.delete(key));
    this.#streams.set(key, endpoint);
    this.#replayEarly(spec.id, job);
    return endpoint;
  }

  /** At the root: opens all endpoints; calls `done` when every member has replied, or with the first error. */
  open(spec: StreamSpec, events: StreamEvents, done: (error: StciError | undefined, stream?: Stream) => void): void {
    if (spec.members[0] !== this.init.self || !isUserStream(spec)) {
      const text = `Expected a stream id in 2..${STREAM_ID_MAX}, this agent first, another member`;
      done(new StciError('STCI_STREAM_INVALID', text));
      return;
    }
    let stream: StreamEndpoint;
    try {
      stream = this.attach(spec, events);
    } catch (fault) {
      done(fault as StciError);
      return;
    }
    let missing = spec.members.length - 1;
    let failed = false;
    const { id, members, topology, reduction } = spec;
    const onReply = (error: StciError | undefined): void => {
      if (failed) return;
      missing -= 1;
      failed = error !== undefined;
      if (failed) stream.close();
      if (failed || missing === 0) done(error, stream);
    };
    for (const member of members.slice(1)) {
      const wanted = { id, members, topology, reduction };
      this.init.messages.request(member, 'stream.open', wanted, onReply, { job: stream.job });
    }
  }

  /** Whether to take a frame now. What comes before its stream is open needs room; its source sends it again. */
  hasRoom(frame: Frame): boolean {
    const { stream: id, job } = decodeHeader(frame);
    return this.#streams.has(streamKey(id, job)) || this.#early.hasRoom(frame, this.init.clock.nowMs());
  }

  onFrame(frame: Frame, from: Link): void {
    const { stream: id, job, destination } = decodeHeader(frame);
    const stream = this.#streams.get(streamKey(id, job));
    if (stream === undefined) {
      // Forwarders of the default stream's multicast are no endpoints of it.
      if (destination === SUBTREE || !this.hasRoom(frame)) return;
      return this.#early.keep({ frame, from, sinceMs: this.init.clock.nowMs() });
    }
    // An invalid frame is its sender's fault; an error in its delivery is ours.
    let deliver: () => void = () => undefined;
    try {
      const whole = this.#reassembly.take(frame);
      if (whole !== undefined) deliver = stream.receive(whole.header, whole.body);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      this.init.messages.malformed(frame, from, fault);
    }
    deliver();
  }

  /** A member is gone for good. Without `job`: that of every job with its address. */
  onGone(member: Address, job?: JobId): void {
    for (const stream of this.#streams.values()) if (job === undefined || job === stream.job) stream.drop(member);
  }

  #onOpen(spec: StreamSpec, source: Address): void {
    if (spec.members[0] !== source) {
      throw new StciError('STCI_MESSAGE_INVALID', `${addressName(source)} is not the root of the stream that it opens`);
    }
    if (this.#acceptor === undefined) {
      throw new StciError('STCI_STREAM_INVALID', 'This agent takes part in no streams but the default one');
    }
    if (!isUserStream(spec) || !spec.members.includes(this.init.self)) {
      throw new StciError('STCI_STREAM_INVALID', `Expected a stream id in 2..${STREAM_ID_MAX}, this agent a member`);
    }
    this.attach(spec, this.#acceptor);
  }

  /** A stream is closed by its root only; the default stream ends with its job, without a message. */
  #onClose(id: StreamId, job: JobId, source: Address): void {
    const stream = this.#streams.get(streamKey(id, job));
    if (id > DEFAULT_STREAM && (stream === undefined || stream.root === source)) return stream?.close();
    throw new StciError('STCI_MESSAGE_INVALID', `${addressName(source)} may not close stream ${id}`);
  }

  #replayEarly(id: StreamId, job: JobId): void {
    for (const { frame, from } of this.#early.take(job, id, this.init.clock.nowMs())) this.onFrame(frame, from);
  }
}

/** Stream ids have 16 bits. */
function streamKey(id: StreamId, job: JobId): number {
  return job * (STREAM_ID_MAX + 1) + id;
}

/** Excludes the default stream, which the launch attaches, and streams of a single member. */
function isUserStream({ id, members }: StreamSpec): boolean {
  return id > DEFAULT_STREAM && id <= STREAM_ID_MAX && members.length > 1;
}
