/** Of the survivors, which are next to each other: a topology without its dead positions. */

import type { Position, SpanningTree, Topology } from '@stci/interface';

/** The children, in place of a dead one its own; first those with the most positions below them. */
export function liveChildren(tree: SpanningTree, position: Position, dead: ReadonlySet<Position>): Position[] {
  const alive = (at: Position): Position[] =>
    tree.children(at).flatMap((child) => (dead.has(child) ? alive(child) : [child]));
  return alive(position).sort((a, b) => tree.subtreeSize(b) - tree.subtreeSize(a));
}

/**
 * The neighbours; in place of a dead one, the next position in its direction that is alive. In a topology that contains
 * the ring, as the binomial graph does, all that are alive stay connected, however many are dead.
 */
export function liveNeighbours(topology: Topology, position: Position, dead: ReadonlySet<Position>): Position[] {
  const { size } = topology;
  const found = new Set<Position>();
  for (const neighbour of topology.neighbours(position)) {
    const step = (neighbour - position + size) % size <= size / 2 ? 1 : size - 1;
    let at = neighbour;
    while (dead.has(at)) at = (at + step) % size;
    if (at !== position) found.add(at);
  }
  return [...found];
}

/** The topology of each size, made once. */
export function bySize(make: ((size: number) => Topology) | undefined): (size: number) => Topology {
  let last: Topology | undefined;
  return (size) => {
    if (make === undefined) throw new Error('Assertion failed: the component names a topology');
    return last?.size === size ? last : (last = make(size));
  };
}
