/** Timers that end together. */

import type { Clock, Timer } from '@stci/interface';

export class Timers {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  after(delayMs: number, fire: () => void): Timer {
    const timer = this.#clock.after(delayMs, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  /**
   * Calls `start` with a callback, of which the first call counts; `late` is called instead where none comes in time.
   * After `cancelAll` it is not called, and a call counts however late it comes.
   */
  within<T extends readonly unknown[]>(
    deadlineMs: number, start: (done: (...values: T) => void) => void, done: (...values: T) => void, late: () => void,
  ): void {
    let isOver = false;
    const timer = this.after(deadlineMs, () => {
      isOver = true;
      late();
    });
    start((...values) => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      done(...values);
    });
  }

  cancelAll(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
