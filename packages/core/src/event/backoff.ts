/** Pauses between attempts at the same thing: each is twice as long as the one before, up to the longest. */

import type { Random } from '@stci/interface';

export interface BackoffBounds {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Pause after so many attempts, from 1. */
export function backoffMs({ firstMs, maxMs }: BackoffBounds, attempts: number): number {
  return Math.min(maxMs, firstMs * 2 ** (attempts - 1));
}

/** The pauses of one that tries, spread by half of each, so that many do not try at once. */
export class Backoff {
  readonly #bounds: BackoffBounds;
  readonly #random: Random;
  #attempts = 0;

  constructor(bounds: BackoffBounds, random: Random) {
    this.#bounds = bounds;
    this.#random = random;
  }

  /** An attempt has failed: the pause before the next. */
  nextMs(): number {
    this.#attempts += 1;
    return backoffMs(this.#bounds, this.#attempts) * (0.5 + this.#random.uniform());
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#attempts = 0;
  }
}
