/**
 * Eviction: which connection is closed when more are pending than the limit allows. Unauthenticated peers can connect
 * faster than honest peers can authenticate, so no rule by age works: dropping the oldest lets a burst empty the set,
 * refusing the newest lets it be filled once and stay full. The rule: those with the least progress first; among them,
 * the source with the most connections; among those, one at random. A burst of n connections evicts a peer among m
 * equals with a probability of at most 1 - (1 - 1/m)^n, each step of progress removes a peer from that risk, and one
 * source cannot evict another. That those with the least progress are all too new to be chosen is no reason to take one
 * with more.
 */

import { entryOf } from '@stci/interface';
import type { EvictionCandidate } from '@stci/interface';

/** Returns the connection to close; undefined if there is none, or none yet. See SelectEviction. */
export function selectEviction<T extends EvictionCandidate>(
  candidates: Iterable<T>,
  pick: (below: number) => number,
  exemptMs = Infinity,
): T | undefined {
  let least = Infinity;
  let bySource = new Map<string, T[]>();
  let largest: T[] = [];
  for (const candidate of candidates) {
    if (candidate.progress > least) continue;
    if (candidate.progress < least) {
      least = candidate.progress;
      bySource = new Map();
      largest = [];
    }
    if (candidate.sinceMs > exemptMs) continue;
    const same = entryOf(bySource, candidate.source, () => []);
    same.push(candidate);
    if (same.length > largest.length) largest = same;
  }
  return largest.length === 0 ? undefined : largest[pick(largest.length)];
}
