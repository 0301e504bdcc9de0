/**
 * Crowd: who goes when more peers wait than may. Strangers can come faster than honest peers can prove themselves, so
 * no order of arrival helps: whoever drops the oldest is emptied by a burst, whoever turns away the newest is filled
 * once and stays full. The rule here: those that have shown least go first; among them, of the source that has sent
 * the most; among those, one by lot. So a burst of n costs a peer in a crowd of m its place with a chance of
 * 1 - (1 - 1/m)^n at most, each step that a peer makes takes it out of the crowd's way, and one source can't crowd
 * out another.
 */

export interface CrowdMember {
  /** Where it comes from, such as an address without its port. */
  readonly source: string;
  /** Steps made on the way to its proof. */
  readonly progress: number;
}

/** Who is to go; undefined where nobody is there. `pick(n)` draws from 0..n-1. */
export function crowdVictim<T extends CrowdMember>(
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
