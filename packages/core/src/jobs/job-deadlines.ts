/** Deadlines of one job: of its launch, of the whole job, and of output that nobody reads when that is over. */

import type { Clock, JobSpec, Timer } from '@stci/interface';
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
  readonly #clock: Clock;
  readonly #events: JobDeadlineEvents;
  #launchTimeoutMs = 0;
  #launchTimer: Timer | undefined;
  #hasWaited = false;
  #jobTimer: Timer | undefined;
  #drainTimer: Timer | undefined;

  constructor(clock: Clock, events: JobDeadlineEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  start({ timeoutMs, launchTimeoutMs }: Pick<JobSpec, 'timeoutMs' | 'launchTimeoutMs'>, graceMs: number): void {
    this.#launchTimeoutMs = launchTimeoutMs;
    this.#startLaunch();
    if (timeoutMs === undefined) return;
    this.#jobTimer = this.#clock.after(timeoutMs, () => {
      this.#jobTimer = this.#clock.after(graceMs + END_REPORT_MS, () => this.#events.onOverdue());
      this.#events.onJobTimeout(timeoutMs);
    });
  }

  /** The launch waits for hosts or slots. */
  suspendLaunch(): void {
    this.#hasWaited = true;
    this.onLaunched();
  }

  /** It goes on, and has its whole time again. */
  resumeLaunch(): void {
    if (this.#hasWaited && this.#launchTimer === undefined) this.#startLaunch();
  }

  /** The launch is over. */
  onLaunched(): void {
    this.#launchTimer?.cancel();
    this.#launchTimer = undefined;
  }

  #startLaunch(): void {
    const timeoutMs = this.#launchTimeoutMs;
    this.#launchTimer = this.#clock.after(timeoutMs, () => this.#events.onLaunchTimeout(timeoutMs, this.#hasWaited));
  }

  /** The end is forced: `done` is called if hosts take too long to drain. */
  awaitDrained(done: () => void): void {
    this.#drainTimer ??= this.#clock.after(DRAIN_MS, done);
  }

  cancel(): void {
    for (const timer of [this.#launchTimer, this.#jobTimer, this.#drainTimer]) timer?.cancel();
  }
}
