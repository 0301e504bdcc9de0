/**
 * Broadcasts about a job, from the agents above to all below: their sources number them, each receiver takes a frame
 * once, and agents that others may be linked to keep the last of them. A child that was cut off gets them with its new
 * link, before anything else over it; what it has already, and so what its own children have, it drops. Pure.
 */

import { PROGRAM_PARTS_BYTES_MAX, type Address, type JobId } from '@stci/interface';
import { HEADER_BYTES, frameJob, frameNumber, frameSource, writeDelivery, type Frame } from '../codec/frame.js';
import { CREDIT_BYTES_MAX } from './credit.js';

/**
 * Bytes kept of each job. Input to all ranks is sent only as long as each agent has credit, so that a child that is cut
 * off misses at most one window of it, and what was on its way; and one decision on what ranks do together, since the
 * next one waits for the ranks below it. The rest is for heads, losses and signals.
 */
export const KEPT_BYTES_MAX = CREDIT_BYTES_MAX + PROGRAM_PARTS_BYTES_MAX + 2 * 1024 * 1024;

/** The frames of one job. */
interface JobBroadcasts {
  /** Number of the last frame, by source. */
  readonly last: Map<Address, number>;
  kept: Frame[];
  bytes: number;
}

export class Broadcasts {
  readonly #jobs = new Map<JobId, JobBroadcasts>();

  get jobs(): Iterable<JobId> {
    return this.#jobs.keys();
  }

  /** Bytes kept of all jobs. */
  get keptBytes(): number {
    let bytes = 0;
    for (const job of this.#jobs.values()) bytes += job.bytes;
    return bytes;
  }

  /** Numbers a frame of this agent, of which this is the header. */
  number(header: Uint8Array, incarnation: number): void {
    const { last } = this.#job(frameJob(header));
    const number = (last.get(frameSource(header)) ?? 0) + 1;
    last.set(frameSource(header), number);
    writeDelivery(header, { number, incarnation, generation: 0 });
  }

  /** Whether a frame is new. */
  take(frame: Frame): boolean {
    const { last } = this.#job(frameJob(frame));
    const source = frameSource(frame);
    if (frameNumber(frame) <= (last.get(source) ?? 0)) return false;
    last.set(source, frameNumber(frame));
    return true;
  }

  keep(frame: Frame): void {
    const job = this.#job(frameJob(frame));
    job.kept.push(frame.slice()); // Not the whole chunk it arrived in.
    job.bytes += frame.length;
    while (job.bytes > KEPT_BYTES_MAX) job.bytes -= job.kept.shift()?.length ?? 0;
  }

  /** The frames kept of all jobs, each as a header of its own and a body: forwarders in this process write to it. */
  *kept(): Generator<readonly Uint8Array[]> {
    for (const { kept } of this.#jobs.values()) for (const frame of kept) yield withOwnHeader(frame);
  }

  closeJob(job: JobId): void {
    this.#jobs.delete(job);
  }

  #job(job: JobId): JobBroadcasts {
    const known = this.#jobs.get(job) ?? { last: new Map<Address, number>(), kept: [], bytes: 0 };
    this.#jobs.set(job, known);
    return known;
  }
}

export function withOwnHeader(frame: Frame): readonly Uint8Array[] {
  return [frame.slice(0, HEADER_BYTES), frame.subarray(HEADER_BYTES)];
}
