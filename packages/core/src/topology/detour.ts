/**
 * Next hops that go around the dead, for any topology with a greedy rule. While the greedy path is alive it is taken:
 * every later position on it has the rest of the same path, alive too. Where it is not, the next hop is one step
 * along a shortest living path, found by breadth-first search from the target. Each such step comes one hop nearer, so
 * following next hops never loops, also where some positions on the way go on greedily.
 */

import type { Position, Topology } from '@stci/interface';

/** `greedy` names the next hop when all are alive and ends at the target. The search costs O(links). */
export function nextHopAround(
  topology: Pick<Topology, 'neighbours'>,
  greedy: (source: Position, target: Position) => Position,
  source: Position,
  target: Position,
  dead: ReadonlySet<Position> | undefined,
): Position | undefined {
  if (source === target) return undefined;
  const first = greedy(source, target);
  if (dead === undefined || dead.size === 0) return first;
  if (dead.has(source) || dead.has(target)) return undefined;
  let at = first;
  while (at !== target && !dead.has(at)) at = greedy(at, target);
  return at === target ? first : search(topology, source, target, dead);
}

/** The neighbour of `source` by which the search from `target` reaches it first. */
function search(
  topology: Pick<Topology, 'neighbours'>,
  source: Position,
  target: Position,
  dead: ReadonlySet<Position>,
): Position | undefined {
  const seen = new Set([target]);
  for (const at of seen) {
    for (const next of topology.neighbours(at)) {
      if (next === source) return at;
      if (!dead.has(next)) seen.add(next);
    }
  }
  return undefined;
}
