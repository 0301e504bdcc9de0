/**
 * Eviction: which connection is dropped when more are pending than the limit allows. Unauthenticated peers can connect
 * faster than honest peers can prove themselves, so no order of arrival helps: dropping the oldest lets a burst empty
 * the set, refusing the newest lets it be filled once and stay full. The rule: those with the least progress first;
 * among them, the source with the most connections; among those, one at random. A burst of n connections evicts a peer
 * among m equals with a probability of at most 1 - (1 - 1/m)^n, each step of progress takes a peer out of that risk,
 * and one source can't evict another.
 */

export interface EvictionCandidate {
  /** Where it comes from, such as an address without its port. */
  readonly source: string;
  /** Steps made on the way to its proof. */
  readonly progress: number;
}

/** Who is to go; undefined where nobody is there. `pick(n)` draws from 0..n-1. */
export function selectEviction<T extends EvictionCandidate>(
  members: Iterable<T>,
  pick: (below: number) => number,
): T | undefined {
  let least = Infinity;
  let bySource = new Map<string, T[]>();
  let largest: T[] = [];
  for (const member of members) {
    if (member.progress > least) continue;
    if (member.progress < least) {
      least = member.progress;
      bySource = new Map();
      largest = [];
    }
    const same = bySource.get(member.source) ?? [];
    same.push(member);
    bySource.set(member.source, same);
    if (same.length > largest.length) largest = same;
  }
  return largest.length === 0 ? undefined : largest[pick(largest.length)];
}
