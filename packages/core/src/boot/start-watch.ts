/**
 * Watch over one start: a child that comes up must make progress, that is, change the mark that the caller provides.
 * Time in which this process did not run is not counted.
 */

import type { Clock, Timer } from '@stci/interface';
import { everyRunning } from '../event/running-timer.js';
import type { StartPace } from '../launcher/start-pace.js';

/** Checks of the mark during the time that one step may take. */
const CHECKS = 8;

export interface StartWatchInit {
  readonly clock: Clock;
  readonly pace: StartPace;
  readonly handshakeMs: number;
  /** Changes whenever the start has made progress. */
  mark(): string;
  /** Called once: no progress for too long. */
  onOverdue(startMs: number): void;
}

export class StartWatch {
  readonly #init: StartWatchInit;
  readonly #timer: Timer;
  #mark: string;
  #silentMs = 0;
  #startMs = 0;
  #isOver = false;

  constructor(init: StartWatchInit) {
    this.#init = init;
    this.#mark = init.mark();
    this.#timer = everyRunning(init.clock, init.handshakeMs / CHECKS, (countedMs) => this.#check(countedMs));
  }

  /** The child has come up. */
  up(): void {
    this.cancel();
    this.#init.pace.onProgress(this.#silentMs);
    this.#init.pace.onUp(this.#startMs);
  }

  cancel(): void {
    this.#isOver = true;
    this.#timer.cancel();
  }

  #check(countedMs: number): void {
    this.#silentMs += countedMs;
    this.#startMs += countedMs;
    this.#checkProgress();
    // Data that has arrived is read before a start is given up.
    if (this.#isOverdue()) this.#init.clock.soon(() => this.#expire());
  }

  #checkProgress(): void {
    const mark = this.#init.mark();
    if (mark === this.#mark) return;
    this.#mark = mark;
    this.#init.pace.onProgress(this.#silentMs);
    this.#silentMs = 0;
  }

  #isOverdue(): boolean {
    const { pace, handshakeMs } = this.#init;
    const tolerance = handshakeMs / CHECKS / 100; // A sum of fractions may fall short of the whole.
    return this.#silentMs >= pace.allowanceMs - tolerance || this.#startMs >= pace.startMsMax - tolerance;
  }

  #expire(): void {
    if (this.#isOver) return;
    this.#checkProgress();
    if (!this.#isOverdue()) return;
    this.cancel();
    this.#init.onOverdue(this.#startMs);
  }
}
