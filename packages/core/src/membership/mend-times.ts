/** Times of a mend as parts of the lease: how long hosts are tried, attempts awaited, and what waits for what. Pure. */

import { backoffMs } from '../event/backoff.js';

/** Delay before a second attempt; it doubles up to a quarter of the lease. */
const RETRY_MS = 100;

/**
 * An attempt that takes longer than this does not keep the hosts below from being reached; nor, below a host of which
 * nobody reported a loss, longer than this part of the lease. Several that are cut off, one below the other, are found
 * within the time for which those below them wait.
 */
const SPREAD_MS = 300;
const SPREAD_FRACTION = 1 / 10;

/** Leases after which a host is given up that is known to live, or about which nobody could say anything. */
const LEASES_MAX = 3;

/** The answer to an attempt is awaited for this part of the lease. */
const ANSWER_FRACTION = 1 / 2;

/**
 * A host that was silent for a lease is reached, or given up, within this part of another one, shared by all that try.
 * Its agent waits for half a lease for a new parent (start.ts): the rest is for the way of the news.
 */
const SILENT_FRACTION = 2 / 5;

/** The part of the time for an answer that the attempt itself takes at most: the rest is for its way. */
const REACH_FRACTION = 2 / 3;

/**
 * A silence that has taken a lease already: the host's own, or that of an agent above it, which the host has noticed,
 * too.
 */
export type Silence = 'own' | 'above' | undefined;

export class MendTimes {
  readonly #leaseMs: number;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** For a host whose loss nobody has timed yet. */
  get caseMs(): number {
    return this.#leaseMs;
  }

  get silentMs(): number {
    return this.#leaseMs * SILENT_FRACTION;
  }

  /** What a host below a silent one has at least: an attempt, and one below it. */
  get belowSilentMs(): number {
    return 2 * SPREAD_FRACTION * this.#leaseMs;
  }

  /** From the beginning of a case: no host is waited for longer. */
  get allMs(): number {
    return LEASES_MAX * this.#leaseMs;
  }

  /**
   * How long an answer is awaited; `candidates`: those that try in turn. A host below a silent one, which may well
   * live, has as long as any: its case is over when each of them has tried once.
   */
  answerMs(silence: Silence, candidates: number): number {
    return silence === 'own' ? this.silentMs / candidates : this.#leaseMs * ANSWER_FRACTION;
  }

  /** How long the attempt itself may take, whose answer is awaited for so long. */
  reachMs(answerMs: number): number {
    return Math.ceil(answerMs * REACH_FRACTION);
  }

  /** How long an attempt keeps the hosts below from being reached. */
  spreadMs(isReported: boolean): number {
    const partMs = this.#leaseMs * SPREAD_FRACTION;
    return isReported ? Math.min(SPREAD_MS, partMs) : partMs;
  }

  /** Pause after so many attempts. */
  retryMs(attempts: number): number {
    return backoffMs({ firstMs: RETRY_MS, maxMs: this.#leaseMs / 4 }, attempts);
  }
}
