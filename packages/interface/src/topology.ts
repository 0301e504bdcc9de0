/**
 * Topologies (STCI paper, II-B): who is linked with whom, and which way a message goes. A topology is a pure
 * object over positions 0..size-1; what sits at a position (controller, root agents, the members of a stream) is its
 * user's affair. Framework `topology`, keyed when an object is made: `topologies.create({kind: 'tree', …})`.
 */

/** Place in a topology, 0 ≤ position < size. */
export type Position = number;

export interface TopologyRequest {
  readonly kind: string;
  /** Number of positions, at least 1. */
  readonly size: number;
  /** Options of the kind, such as `arity` or `dimensions`; unset ones come from the component's parameters. */
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface Topology {
  readonly kind: string;
  readonly size: number;
  /** All linked positions, ascending, without `position` itself. Links are symmetric. */
  neighbours(position: Position): readonly Position[];
  /**
   * The neighbour to which `source` hands a message for `target`, avoiding the `dead`; undefined where none is
   * left. Following next hops from any source ends at the target without a loop while `dead` stays the same.
   */
  nextHop(source: Position, target: Position, dead?: ReadonlySet<Position>): Position | undefined;
  /** Largest number of hops between two positions when all are alive. */
  readonly diameter: number;
  /** The spanning tree rooted at `root`, along which a broadcast or a stream travels. */
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

/** The k-ary tree, numbered level by level from position 0. */
export interface TreeTopology extends Topology {
  readonly kind: 'tree';
  readonly arity: number;
  parent(position: Position): Position | undefined;
  children(position: Position): readonly Position[];
  depth(position: Position): number;
  /** Number of levels below the root; 0 for one position. */
  readonly height: number;
  /** Positions at and below `position`, in pre-order. */
  subtree(position: Position): readonly Position[];
  subtreeSize(position: Position): number;
  /** True where `ancestor` is strictly above `position`. */
  isAncestor(ancestor: Position, position: Position): boolean;
}
