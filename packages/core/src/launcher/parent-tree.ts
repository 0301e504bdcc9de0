/**
 * Boot trees by parents: those of policies that give the parent of each host (ParentsPlan). An agent keeps its part of
 * the plan, the parents of the hosts above it and of those below it; hosts that it does not know are to it children of
 * the controller. So it has right answers to all that it asks: who is above it, who is below it, and where below.
 *
 * Hosts that are added later are not in the plan: they have an 8-ary tree of their own below the controller, level by
 * level.
 */

import {
  BOOT_ROOT, assert, bootHost, bootPosition, entryOf, type ArityPlan, type BootTree, type BootTreePlan,
  type HostIndex, type Position,
} from '@stci/interface';
import { subtreeOf } from '../topology/subtree.js';

/** Children of an added host, and of the controller among them. */
const ADDED_ARITY = 8;

/** A part of a tree by parents, as agents get it. */
export interface ParentsPart {
  /** Number of hosts in the whole plan. */
  readonly planned: number;
  /** A host, its parent, another host, its parent …, without those that are the controller's children. */
  readonly parents: readonly HostIndex[];
}

/** What an agent knows of the plan. */
export type BootTreePart = ArityPlan | ParentsPart;

/** The boot tree over all hosts that there may be: too many to list. */
export type BootPlaces = Pick<BootTree, 'size' | 'parent' | 'isAncestor'>;

/** All of a checked plan, for the controller. */
export function wholePart(plan: BootTreePlan): BootTreePart {
  if ('arity' in plan) return plan;
  const parents = plan.parents.flatMap((parent, host) => (parent === undefined ? [] : [host, parent]));
  return { planned: plan.parents.length, parents };
}

/**
 * What the agent of `host` needs of it, or of an agent's part that has the host in it. `tree`: of this part; whoever
 * has many children makes it once.
 */
export function partFor(
  part: BootTreePart, host: HostIndex, tree: Pick<BootTree, 'parent' | 'subtree'>,
): BootTreePart {
  if ('arity' in part) return part;
  const { planned } = part;
  if (host >= planned) return { planned, parents: [] };
  const parents: HostIndex[] = [];
  const add = (position: Position): Position => {
    const parent = tree.parent(position) as Position;
    if (parent !== BOOT_ROOT) parents.push(bootHost(position), bootHost(parent));
    return parent;
  };
  for (const position of tree.subtree(bootPosition(host))) add(position);
  for (let at = tree.parent(bootPosition(host)) as Position; at !== BOOT_ROOT; ) at = add(at);
  return { planned, parents };
}

export class ParentTree implements BootTree {
  readonly size: number;
  readonly #planned: number;
  /** Without the children of the root. */
  readonly #parents = new Map<Position, Position>();
  #children: Map<Position, Position[]> | undefined;
  #height: number | undefined;

  /** The hosts of the part, which has no cycles; `size`: positions, with those of hosts added since. */
  constructor(size: number, { planned, parents }: ParentsPart) {
    this.size = size;
    this.#planned = planned;
    for (let at = 0; at < parents.length; at += 2) {
      this.#parents.set(bootPosition(parents[at]!), bootPosition(parents[at + 1]!));
    }
  }

  get height(): number {
    return (this.#height ??= this.#highest());
  }

  parent(position: Position): Position | undefined {
    this.#check(position);
    return position === BOOT_ROOT ? undefined : this.#up(position);
  }

  children(position: Position): readonly Position[] {
    this.#check(position);
    const planned = Math.min(this.#planned, this.size - 1);
    if (position === BOOT_ROOT) {
      const own = Array.from({ length: planned }, (_, i) => i + 1).filter((at) => !this.#parents.has(at));
      return [...own, ...this.#added(0)];
    }
    return position > this.#planned ? this.#added(position - this.#planned) : (this.#lists().get(position) ?? []);
  }

  depth(position: Position): number {
    this.#check(position);
    let depth = 0;
    for (let at = position; at !== BOOT_ROOT; at = this.#up(at)) depth++;
    return depth;
  }

  subtree(position: Position): readonly Position[] {
    return subtreeOf(this, position);
  }

  subtreeSize(position: Position): number {
    return this.subtree(position).length;
  }

  isAncestor(ancestor: Position, position: Position): boolean {
    this.#check(ancestor);
    this.#check(position);
    if (ancestor === BOOT_ROOT) return position !== BOOT_ROOT;
    for (let at = position; at !== BOOT_ROOT; ) {
      at = this.#up(at);
      if (at === ancestor) return true;
    }
    return false;
  }

  #up(position: Position): Position {
    if (position <= this.#planned) return this.#parents.get(position) ?? BOOT_ROOT;
    const above = Math.floor((position - this.#planned - 1) / ADDED_ARITY);
    return above === 0 ? BOOT_ROOT : this.#planned + above;
  }

  /** Children of an added host by its number, from 1; 0: of the controller. */
  #added(number: number): Position[] {
    const first = this.#planned + number * ADDED_ARITY + 1;
    const count = Math.max(0, Math.min(ADDED_ARITY, this.size - first));
    return Array.from({ length: count }, (_, i) => first + i);
  }

  #lists(): Map<Position, Position[]> {
    if (this.#children !== undefined) return this.#children;
    const lists = new Map<Position, Position[]>();
    for (const [position, parent] of this.#parents) {
      if (position < this.size) entryOf(lists, parent, () => []).push(position);
    }
    for (const list of lists.values()) list.sort((a, b) => a - b);
    return (this.#children = lists);
  }

  /** Each position is walked over once: those whose depth is known are not walked up from again. */
  #highest(): number {
    const depths = new Map<Position, number>([[BOOT_ROOT, 0]]);
    // Of the added hosts, the last is deepest; those that are not in the part are the controller's children.
    let highest = Math.max(this.size > 1 ? 1 : 0, this.depth(this.size - 1));
    for (const position of this.#parents.keys()) {
      const way: Position[] = [];
      let at = position;
      for (; !depths.has(at); at = this.#up(at)) way.push(at);
      let depth = depths.get(at) as number;
      for (let i = way.length - 1; i >= 0; i--) depths.set(way[i]!, ++depth);
      highest = Math.max(highest, depth);
    }
    return highest;
  }

  #check(position: Position): void {
    assert(
      Number.isInteger(position) && position >= 0 && position < this.size,
      `position is in 0..${this.size - 1}, got ${position}`,
    );
  }
}
