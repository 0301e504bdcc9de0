/** A small seeded generator for property loops (xorshift32): the same seed gives the same cases. */

export interface Seeded {
  /** 0 ≤ result < bound. */
  below(bound: number): number;
  pick<T>(items: readonly T[]): T;
}

export function seeded(seed: number): Seeded {
  let state = seed >>> 0 || 1;
  const below = (bound: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
  return { below, pick: <T>(items: readonly T[]) => items[below(items.length)] as T };
}
