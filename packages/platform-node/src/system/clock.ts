/**
 * Clock on Node. Timers have absolute deadlines: Node's own count whole milliseconds of a clock that it reads once per
 * turn, so they may fire up to a millisecond early; such a timer is set again here. Timers do not keep a process alive:
 * its open channels and children do.
 */

import type { Clock, Timer } from '@stci/interface';
import { WallClock } from './wall-clock.js';

/** Milliseconds since the process started, monotonic. `performance` would load node:perf_hooks, 2 ms of a start. */
export function nowMs(): number {
  return process.uptime() * 1000;
}

/** Longest delay that setTimeout accepts, in ms (2^31 - 1); longer delays are split. */
const DELAY_MAX_MS = 0x7fff_ffff;

class DeadlineTimer implements Timer {
  readonly #deadlineMs: number;
  readonly #fire: () => void;
  readonly #onOverdue: (() => void) | undefined;
  #handle: NodeJS.Timeout | undefined;

  constructor(deadlineMs: number, fire: () => void, onOverdue?: () => void) {
    this.#deadlineMs = deadlineMs;
    this.#fire = fire;
    this.#onOverdue = onOverdue;
    if (onOverdue !== undefined) impatient.add(this);
    this.#arm();
  }

  #arm(): void {
    const leftMs = Math.ceil(this.#deadlineMs - nowMs());
    this.#handle = setTimeout(() => this.#expire(), Math.min(Math.max(leftMs, 0), DELAY_MAX_MS));
    this.#handle.unref();
  }

  #expire(): void {
    if (nowMs() < this.#deadlineMs) return this.#arm();
    this.cancel();
    this.#fire();
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
    impatient.delete(this);
  }

  look(atMs: number): void {
    if (atMs >= this.#deadlineMs) this.#onOverdue?.();
  }
}

/** Timers with `onOverdue`, and when they are looked at next. */
const impatient = new Set<DeadlineTimer>();
let lookMs = 0;
/** Less than a quarter of the shortest lease. */
const LOOK_MS = 40;

/**
 * To be called with each input, before it is handled. With sixty programs that spin on each processor, what comes in
 * one turn takes ten seconds.
 */
export function runOverdue(): void {
  const atMs = nowMs();
  if (atMs < lookMs) return;
  lookMs = atMs + LOOK_MS;
  for (const timer of impatient) timer.look(atMs);
}

/** The wall clock of all platforms of this process. Made at the first use, which loads node:perf_hooks. */
let wall: WallClock | undefined;

function wallMs(): number {
  wall ??= new WallClock(Date.now, nowMs, performance.timeOrigin + performance.now() - nowMs());
  return wall.read();
}

export function createClock(): Clock {
  return {
    nowMs,
    wallMs,
    after: (delayMs, fire, onOverdue) => new DeadlineTimer(nowMs() + delayMs, fire, onOverdue),
    soon: (fire) => void setImmediate(fire),
  };
}
