/** When those that wait for hosts or slots are looked at again: in a later turn, and once for many that end. */

import type { Clock } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';

/** Longest time for which a slot is free and those that wait are not looked at: each look counts all slots. */
const LOOK_MS = 250;

export class RoomWatch {
  readonly #clock: Clock;
  readonly #look: () => void;
  #isSoon = false;
  readonly #timers: Timers<'look'>;

  constructor(clock: Clock, holds: Scope, look: () => void) {
    this.#timers = new Timers(clock, holds);
    this.#clock = clock;
    this.#look = look;
  }

  /** A host is there, or awaited no more, or a job is over. */
  soon(): void {
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#clock.soon(() => {
      this.#isSoon = false;
      this.#timers.clear('look');
      this.#look();
    });
  }

  /** Ranks have ended; the others of their job may follow, each in a turn of its own. */
  later(): void {
    this.#timers.ensure('look', LOOK_MS, () => this.soon());
  }
}
