/**
 * Timers of one actor, by name: at most one of each runs, one that has fired is forgotten before what it calls, and
 * all end with their actor, or with the scope that they are in.
 */

import type { Clock, Timer } from '@stci/interface';
import { afterRunning } from './running-timer.js';
import type { Scope } from './scope.js';

export interface TimerOptions {
  /** Only time in which this process ran counts (running-timer.ts). */
  readonly running?: boolean;
}

export class Timers<Name extends string | number = string> {
  readonly #clock: Clock;
  readonly #timers = new Map<Name, Timer>();
  readonly #forget: (() => void) | undefined;
  #isClosed = false;

  /** `label`: before the name, where the scope's rows are shown. */
  constructor(clock: Clock, scope?: Scope, label = 'timer') {
    this.#clock = clock;
    const labels = (): string[] => [...this.#timers.keys()].map((name) => `${label} ${name}`);
    this.#forget = scope?.holdAll(labels, () => this.close());
  }

  /** Calls `fire` once after `delayMs`, in place of what this name was set to. Does nothing once all are closed. */
  set(name: Name, delayMs: number, fire: () => void, { running = false }: TimerOptions = {}): void {
    this.clear(name);
    if (this.#isClosed) return;
    const onTime = (): void => {
      this.#timers.delete(name);
      fire();
    };
    const timer = running ? afterRunning(this.#clock, delayMs, onTime) : this.#clock.after(delayMs, onTime);
    this.#timers.set(name, timer);
  }

  /** As `set`, unless it runs. */
  ensure(name: Name, delayMs: number, fire: () => void, options?: TimerOptions): void {
    if (!this.has(name)) this.set(name, delayMs, fire, options);
  }

  /** A timer of this name runs. */
  has(name: Name): boolean {
    return this.#timers.has(name);
  }

  clear(name: Name): void {
    this.#timers.get(name)?.cancel();
    this.#timers.delete(name);
  }

  /** Ends all; none is set any more. */
  close(): void {
    this.#isClosed = true;
    this.#forget?.();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }
}

/** A timer that its scope holds. */
export function heldTimer(scope: Scope, clock: Clock, name: string, delayMs: number, fire: () => void): Timer {
  if (scope.isClosed) return { cancel: () => undefined };
  const forget = scope.hold(`timer ${name}`, () => timer.cancel());
  const timer = clock.after(delayMs, () => {
    forget();
    fire();
  });
  return {
    cancel: () => {
      forget();
      timer.cancel();
    },
  };
}
