/** Deadlines of one job: of its launch, of the whole job, and of output that nobody reads when that is over. */

import type { Clock, JobSpec } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import { END_REPORT_MS } from './job-termination.js';

/** How long, after a forced end, hosts whose ranks have ended may take to drain. */
const DRAIN_MS = 3000;

export interface JobDeadlineEvents {
  /** `hasWaited`: it was suspended for some time before. */
  onLaunchTimeout(timeoutMs: number, hasWaited: boolean): void;
  onJobTimeout(timeoutMs: number): void;
  /** The job has timed out, and its ranks have had the grace period to end: neither hosts nor output are awaited. */
  onOverdue(): void;
}

export class JobDeadlines {
  readonly #timers: Timers<'launch' | 'job' | 'overdue' | 'drain'>;
  readonly #events: JobDeadlineEvents;
  #launchTimeoutMs = 0;
  #hasWaited = false;
  #isSuspended = false;

  constructor(clock: Clock, holds: Scope, events: JobDeadlineEvents) {
    this.#timers = new Timers(clock, holds);
    this.#events = events;
  }

  start({ timeoutMs, launchTimeoutMs }: Pick<JobSpec, 'timeoutMs' | 'launchTimeoutMs'>, graceMs: number): void {
    this.#launchTimeoutMs = launchTimeoutMs;
    this.#startLaunch();
    if (timeoutMs === undefined) return;
    this.#timers.set('job', timeoutMs, () => {
      // Timers that are due together may fire in either order; a launch that is late is told first.
      const isLaunchDue = launchTimeoutMs <= timeoutMs && !this.#hasWaited && this.#timers.has('launch');
      if (isLaunchDue) this.#onLaunchTimeout();
      this.#timers.set('overdue', graceMs + END_REPORT_MS, () => this.#events.onOverdue());
      this.#events.onJobTimeout(timeoutMs);
    });
  }

  /** The launch waits for hosts or slots. */
  suspendLaunch(): void {
    this.onLaunched();
    this.#hasWaited = true;
    this.#isSuspended = true;
  }

  /** The launch goes on, and has its whole time again. */
  resumeLaunch(): void {
    if (this.#isSuspended) this.#startLaunch();
  }

  /** The launch is over. */
  onLaunched(): void {
    this.#isSuspended = false;
    this.#timers.clear('launch');
  }

  #startLaunch(): void {
    this.#isSuspended = false;
    this.#timers.set('launch', this.#launchTimeoutMs, () => this.#onLaunchTimeout());
  }

  #onLaunchTimeout(): void {
    this.#timers.clear('launch');
    this.#events.onLaunchTimeout(this.#launchTimeoutMs, this.#hasWaited);
  }

  /** The end is forced: `done` is called if hosts take too long to drain. */
  awaitDrained(done: () => void): void {
    this.#timers.ensure('drain', DRAIN_MS, done);
  }
}
