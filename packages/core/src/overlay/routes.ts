/**
 * Routes over an overlay: which of an agent's links leads to another agent, around those that are gone. A route is one
 * of shortest paths over the topology; where the link to its first hop is not up, the next best neighbour is taken.
 * Pure, but for whom it asks whether to avoid. While all agents agree on who is gone, and the links of shortest
 * paths are up, routes have no loops; otherwise the hops of a frame are bounded, and its source sends it again.
 */

import { entryOf } from '@stci/interface';
import type { Position, Topology } from '@stci/interface';

export class OverlayRoutes {
  readonly topology: Topology;
  readonly self: Position;
  readonly #neighbours: ReadonlySet<Position>;
  readonly #isAvoided: (position: Position) => boolean;
  /** By position: the topology is asked once, whatever its answer costs. */
  readonly #linked = new Map<Position, readonly Position[]>();
  /** For each target, the neighbours that reach it without this agent, nearest first. */
  readonly #ways = new Map<Position, readonly Position[]>();

  /** `isAvoided`: no route leads through it; what has changed of it is told by `onChange`. */
  constructor(topology: Topology, self: Position, isAvoided: (position: Position) => boolean) {
    this.topology = topology;
    this.self = self;
    this.#isAvoided = isAvoided;
    this.#neighbours = new Set(topology.neighbours(self));
  }

  get neighbours(): readonly Position[] {
    return [...this.#neighbours];
  }

  /** Others are avoided than before. */
  onChange(): void {
    this.#ways.clear();
  }

  /** The neighbours that lead to `target`, best first; itself first if it is one. */
  ways(target: Position): readonly Position[] {
    return entryOf(this.#ways, target, () => this.#search(target));
  }

  /**
   * Whether an agent with a link to this one, of the overlay or of the tree, may have got a frame of `source`: both are
   * connected without this agent, and so lead to the same of its neighbours.
   */
  isBeyond(source: Position, peer: Position): boolean {
    const [way] = this.ways(peer);
    return source === peer || (way !== undefined && this.ways(source).includes(way));
  }

  /** Breadth-first from the target, over positions that are alive, without this one. */
  #search(target: Position): Position[] {
    const { topology, self } = this;
    if (target === self || target < 0 || target >= topology.size) return [];
    const found: Position[] = [];
    const seen = new Set([target]);
    for (const at of seen) {
      if (this.#neighbours.has(at)) found.push(at);
      const links = entryOf(this.#linked, at, () => topology.neighbours(at));
      for (const next of links) if (next !== self && !this.#isAvoided(next)) seen.add(next);
    }
    return found;
  }
}
