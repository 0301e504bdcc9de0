/**
 * Topologies (STCI paper, II-B): which positions are linked, and how messages are routed. A topology is a pure object
 * over positions 0..size-1; its user assigns agents to positions (controller, root agents, the members of a stream).
 * Framework `topology`, keyed at creation: `topologies.create({kind: 'tree', …})`.
 */

/** Position in a topology, 0 ≤ position < size. */
export type Position = number;

export interface TopologyRequest {
  readonly kind: string;
  /** Number of positions, at least 1. */
  readonly size: number;
  /** Options of the kind, such as `arity` or `dimensions`; the component's parameters are the defaults. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * Promises, by which the compliance suite of @stci/compliance names what is broken:
 *
 * - `record`: The registry takes it; version, help and parameters can be shown; `query` depends on its input only.
 * - `request`: Kind and size are those of the request; a bad size or option is refused with STCI_TOPOLOGY_INVALID.
 * - `options`: A parameter is the default of the option of the same name.
 * - `links`: Neighbours ascend, each once, without the position itself; links are symmetric and connect all.
 * - `degree`: No position has more links than the kind says.
 * - `route`: Next hops are live links; following them reaches the target without a loop, or the first is undefined.
 * - `detour`: There is a next hop wherever live positions still connect source and target, if the kind says so.
 * - `diameter`: It is the number of hops of the longest route while all are alive.
 * - `tree`: A spanning tree has every position once, over links; parents, children, depths and sizes agree.
 * - `turns`: What it answers depends on the question alone: not on what else was asked, of it or of others, or when.
 */
export interface Topology {
  readonly kind: string;
  readonly size: number;
  /** All linked positions, ascending. Links are symmetric; no position is linked to itself. */
  neighbours(position: Position): readonly Position[];
  /**
   * The neighbour to which `source` forwards a message for `target`, avoiding `dead` positions; undefined if there is
   * none. Following next hops from any source reaches the target without a loop as long as `dead` stays the same.
   */
  nextHop(source: Position, target: Position, dead?: ReadonlySet<Position>): Position | undefined;
  /** Largest number of hops between two positions if all are alive. */
  readonly diameter: number;
  /** The spanning tree rooted at `root`, for broadcasts and streams. */
  spanningTree(root: Position): SpanningTree;
}

/** A rooted tree over the same positions. */
export interface SpanningTree {
  readonly root: Position;
  /** undefined for the root. */
  parent(position: Position): Position | undefined;
  /** Ascending. */
  children(position: Position): readonly Position[];
  /** Hops from the root. */
  depth(position: Position): number;
  /** Number of positions at and below `position`. */
  subtreeSize(position: Position): number;
}

/** A tree over positions 0..size-1 whose root is position 0, as a boot tree is. */
export interface BootTree {
  readonly size: number;
  /** Number of levels below the root; 0 for one position. */
  readonly height: number;
  /** undefined for the root. */
  parent(position: Position): Position | undefined;
  /** Ascending. */
  children(position: Position): readonly Position[];
  /** Hops from the root. */
  depth(position: Position): number;
  /** Positions at and below `position`, in pre-order. */
  subtree(position: Position): readonly Position[];
  subtreeSize(position: Position): number;
  /** True if `ancestor` is strictly above `position`. */
  isAncestor(ancestor: Position, position: Position): boolean;
}

/** The k-ary tree, numbered level by level from position 0. */
export interface TreeTopology extends Topology, BootTree {
  readonly kind: 'tree';
  readonly size: number;
  readonly arity: number;
}
