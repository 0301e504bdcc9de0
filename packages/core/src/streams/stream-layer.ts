/**
 * Stream layer (STCI paper, II-E.2c): each job has a stream, rooted at the controller, with its output up and its input
 * down the boot tree, under credit. What goes up is addressed to the controller, what goes down to one session agent,
 * or to all: agents between read the header only. What agents contribute to a reduction comes up by collects.ts.
 */

import { StciError, assert, type Address, type JobId } from '@stci/interface';
import { Reassembly } from '../am/fragments.js';
import { SUBTREE } from '../am/transport.js';
import type { Link } from '../bootcom/link.js';
import { decodeHeader, frameJob, type Frame } from '../codec/frame.js';
import { EarlyFrames } from './early-frames.js';
import {
  STREAM, StreamEndpoint, type StreamEvents, type StreamLayerInit, type StreamOptions,
} from './stream-endpoint.js';

export class StreamLayer {
  readonly #init: StreamLayerInit;
  readonly #streams = new Map<JobId, StreamEndpoint>();
  readonly #reassembly: Reassembly;
  readonly #early: EarlyFrames;

  constructor(init: StreamLayerInit) {
    this.#init = init;
    const { clock, limits } = init;
    const { messageBytesMax, requestTimeoutMs } = limits;
    this.#reassembly = new Reassembly(clock, messageBytesMax, requestTimeoutMs, (error) => init.onFault(error));
    this.#early = new EarlyFrames(requestTimeoutMs);
    init.holds.holdAll(() => [...this.#streams.keys()].map((job) => `stream of job ${job}`));
  }

  /** Bytes of frames that came before their stream was open. */
  get earlyBytes(): number {
    return this.#early.bytes;
  }

  /** Opens this agent's endpoint; the job's other agents open theirs. */
  attach(options: StreamOptions, events: StreamEvents): StreamEndpoint {
    const endpoint = new StreamEndpoint(this.#init, options, events, () => this.#streams.delete(endpoint.job));
    const { job } = endpoint;
    assert(!this.#streams.has(job), 'an agent has one endpoint of the stream of a job');
    this.#streams.set(job, endpoint);
    for (const { frame, from } of this.#early.take(job, this.#init.clock.nowMs())) this.onFrame(frame, from);
    return endpoint;
  }

  /** Whether to take a frame now. What comes before its stream is open needs room; its source sends it again. */
  hasRoom(frame: Frame): boolean {
    return this.#streams.has(frameJob(frame)) || this.#early.hasRoom(frame, this.#init.clock.nowMs());
  }

  onFrame(frame: Frame, from: Link): void {
    const { stream: number, job, destination } = decodeHeader(frame);
    const stream = this.#streams.get(job);
    if (stream === undefined) {
      // Forwarders of the input for all are no endpoints of it.
      if (destination === SUBTREE || !this.hasRoom(frame)) return;
      return this.#early.keep({ frame, from, sinceMs: this.#init.clock.nowMs() });
    }
    // An invalid frame is its sender's fault; an error in its delivery is ours.
    let deliver: () => void = () => undefined;
    try {
      if (number !== STREAM) throw new StciError('STCI_MESSAGE_INVALID', `A job has no stream ${number}`);
      const whole = this.#reassembly.take(frame);
      if (whole !== undefined) deliver = stream.receive(whole.header, whole.body);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      this.#init.messages.malformed(frame, from, fault);
    }
    deliver();
  }

  /** A member is gone for good. Without `job`: that of every job with its address. */
  onGone(member: Address, job?: JobId): void {
    for (const stream of this.#streams.values()) if (job === undefined || job === stream.job) stream.drop(member);
  }
}
