/** A clock of one who outlives worlds: its time and its timers go on in the next world where they were in the last. */

import type { Clock, Timer } from '@stci/interface';
import { World, type SimEvent, type WorldOptions } from '@stci/platform-sim';

interface Pending {
  readonly dueMs: number;
  readonly fire: () => void;
  event: SimEvent;
}

export class WorldsClock implements Clock {
  #world: World;
  /** Of the world that is now, when it began. */
  #baseMs = 0;
  readonly #pending = new Set<Pending>();

  constructor(first: WorldOptions) {
    this.#world = new World(first);
  }

  get world(): World {
    return this.#world;
  }

  nowMs(): number {
    return this.#baseMs + this.#world.nowMs;
  }

  wallMs(): number {
    return this.#world.wallStartMs + this.#world.nowMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const dueMs = this.nowMs() + Math.max(0, delayMs);
    const pending: Pending = { dueMs, fire, event: this.#event(dueMs, () => this.#fire(pending)) };
    this.#pending.add(pending);
    return {
      cancel: () => {
        if (this.#pending.delete(pending)) this.#cancel(pending);
      },
    };
  }

  soon(fire: () => void): void {
    this.after(0, fire);
  }

  /** Time goes on in another world. */
  next(options: WorldOptions): World {
    const wallStartMs = this.wallMs();
    this.#baseMs = this.nowMs();
    for (const pending of this.#pending) this.#cancel(pending);
    this.#world = new World({ ...options, wallStartMs });
    for (const pending of [...this.#pending].sort((a, b) => a.dueMs - b.dueMs)) {
      pending.event = this.#event(pending.dueMs, () => this.#fire(pending));
    }
    return this.#world;
  }

  /** Nobody is called any more. */
  end(): void {
    for (const pending of this.#pending) this.#cancel(pending);
    this.#pending.clear();
  }

  #event(dueMs: number, call: () => void): SimEvent {
    return this.#world.scheduler.call(undefined, dueMs - this.nowMs(), call);
  }

  #cancel({ event }: Pending): void {
    this.#world.scheduler.queue.cancel(event);
  }

  #fire(pending: Pending): void {
    if (this.#pending.delete(pending)) pending.fire();
  }
}
