/** Random integers from a seed, for tests with samples. */

/** Uniform integer in 0..below-1. */
export type IntegerSource = (below: number) => number;

/** A mulberry32 generator. */
export function seededIntegers(seed: number): IntegerSource {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * below);
  };
}

/** Draws for loops over properties: the same seed gives the same cases. */
export interface Seeded {
  /** 0 ≤ result < bound. */
  below(bound: number): number;
  pick<T>(items: readonly T[]): T;
}

export function seeded(seed: number): Seeded {
  const below = seededIntegers(seed);
  return { below, pick: <T>(items: readonly T[]) => items[below(items.length)] as T };
}
