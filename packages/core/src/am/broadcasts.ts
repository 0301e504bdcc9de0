/**
 * Broadcasts about a job, from the agents above to all below: their sources number them, each receiver takes a frame
 * once, and agents that others may be linked to keep the last of them. A child that was cut off gets them with its new
 * link, before anything else over it; what it has already, and so what its own children have, it drops. Pure.
 */

import { PROGRAM_PARTS_BYTES_MAX, entryOf, type Address, type JobId } from '@stci/interface';
import { HEADER_BYTES, frameJob, frameNumber, frameSource, writeDelivery, type Frame } from '../codec/frame.js';
import { CREDIT_BYTES_MAX } from './credit.js';

/**
 * Bytes kept of each job. Input to all ranks is sent only as long as each agent has credit, so that a child that is cut
 * off misses at most one window of it, and what was on its way; and one decision on what ranks do together, since the
 * next one waits for the ranks below it. The rest is for heads, losses and signals.
 */
export const KEPT_BYTES_MAX = CREDIT_BYTES_MAX + PROGRAM_PARTS_BYTES_MAX + 2 * 1024 * 1024;

/**
 * Bound for all jobs. Beyond, the oldest of the job with the most are dropped: it keeps an equal share at least, and
 * an agent that is cut off meanwhile may miss some.
 */
export const KEPT_ALL_BYTES_MAX = 8 * KEPT_BYTES_MAX;

/** The frames of one job. */
interface JobBroadcasts {
  /** Number of the last frame, by source. */
  readonly last: Map<Address, number>;
  kept: Frame[];
  bytes: number;
  /** How many were kept before these. */
  dropped: number;
  /** Some of them for the sake of all jobs. */
  isCut: boolean;
}

/** What a child has missed, each frame as a header of its own and a body: forwarders in this process write to it. */
export interface MissedBroadcasts {
  /** Frames of this job are left: later ones come after them. */
  has(job: JobId): boolean;
  next(): readonly Uint8Array[] | undefined;
}

export class Broadcasts {
  readonly #jobs = new Map<JobId, JobBroadcasts>();
  #bytes = 0;

  get jobs(): Iterable<JobId> {
    return this.#jobs.keys();
  }

  /** Bytes kept of all jobs. */
  get keptBytes(): number {
    return this.#bytes;
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

  /** Returns a job, the first time that some of its frames are dropped for the sake of all jobs. */
  keep(frame: Frame): JobId | undefined {
    const job = this.#job(frameJob(frame));
    job.kept.push(frame.slice()); // Not the whole chunk it arrived in.
    this.#count(job, frame.length);
    while (job.bytes > KEPT_BYTES_MAX) this.#dropOldest(job);
    if (this.#bytes <= KEPT_ALL_BYTES_MAX) return undefined;
    const [number, largest] = [...this.#jobs].reduce((most, each) => (each[1].bytes > most[1].bytes ? each : most));
    while (this.#bytes > KEPT_ALL_BYTES_MAX) this.#dropOldest(largest);
    if (largest.isCut) return undefined;
    largest.isCut = true;
    return number;
  }

  #dropOldest(job: JobBroadcasts): void {
    this.#count(job, -(job.kept.shift()?.length ?? 0));
    job.dropped += 1;
  }

  #count(job: JobBroadcasts, bytes: number): void {
    job.bytes += bytes;
    this.#bytes += bytes;
  }

  /** The frames kept of one job. */
  kept(job: JobId): readonly Frame[] {
    return this.#jobs.get(job)?.kept ?? [];
  }

  /** The frames kept of all jobs, those included that are kept before the others of their job have been taken. */
  missed(): MissedBroadcasts {
    /** How many of a job have been taken or dropped. */
    const taken = new Map([...this.#jobs.keys()].map((job) => [job, 0]));
    const next = (): readonly Uint8Array[] | undefined => {
      for (const [job, count] of taken) {
        const { kept, dropped } = this.#jobs.get(job) ?? { kept: [], dropped: 0 };
        const at = Math.max(0, count - dropped);
        const frame = kept[at];
        taken.set(job, dropped + at + 1);
        if (frame !== undefined) return withOwnHeader(frame);
        taken.delete(job);
      }
      return undefined;
    };
    return { has: (job) => taken.has(job), next };
  }

  closeJob(job: JobId): void {
    this.#bytes -= this.#jobs.get(job)?.bytes ?? 0;
    this.#jobs.delete(job);
  }

  #job(job: JobId): JobBroadcasts {
    return entryOf(this.#jobs, job, () => ({ last: new Map(), kept: [], bytes: 0, dropped: 0, isCut: false }));
  }
}

export function withOwnHeader(frame: Frame): readonly Uint8Array[] {
  return [frame.slice(0, HEADER_BYTES), frame.subarray(HEADER_BYTES)];
}
