/**
 * Next hops around dead positions, for any topology with a greedy rule. While the greedy path is alive it is taken: the
 * rest of it is alive too, so every later position on it continues it. Otherwise the next hop is one step along a
 * shortest path over live positions, found by breadth-first search from the target. Each such step comes one hop
 * nearer, so following next hops never loops, even if some positions on the path go on greedily.
 */

import type { Position, Topology } from '@stci/interface';

/** `greedy` names the next hop if all are alive; following it must end at the target. The search costs O(links). */
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

/** The neighbour of `source` that the search from `target` reaches first. */
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
