/**
 * The k-ary tree, numbered level by level from position 0: the children of p are k·p+1 .. k·p+k, so every result is
 * computed and nothing is stored. A parent's number is smaller than its child's: of two positions the larger one is
 * never an ancestor of the smaller, which is how the common ancestor of two positions is found. With k = 1 the tree is
 * a chain, whose results need no walk.
 */

import { subtreeOf } from '@stci/core/component';
import { assert } from '@stci/interface';
import type { Position, SpanningTree, TreeTopology } from '@stci/interface';

/**
 * The tree over `size` ≥ 1 positions with at most `arity` ≥ 1 children each. Both are assertions: requests of users go
 * through the component, which refuses invalid ones with STCI_TOPOLOGY_INVALID.
 */
export function createTree(size: number, arity: number): TreeTopology {
  assert(Number.isInteger(size) && size >= 1, `tree size is an integer of at least 1, got ${size}`);
  assert(Number.isInteger(arity) && arity >= 1, `tree arity is an integer of at least 1, got ${arity}`);
  return new Tree(size, arity);
}

class Tree implements TreeTopology {
  readonly kind = 'tree';
  readonly size: number;
  readonly arity: number;
  readonly height: number;
  readonly diameter: number;

  constructor(size: number, arity: number) {
    this.size = size;
    this.arity = arity;
    this.height = this.depth(size - 1);
    this.diameter = this.#longestPath();
  }

  parent(position: Position): Position | undefined {
    this.#check(position);
    return position === 0 ? undefined : this.#up(position);
  }

  children(position: Position): readonly Position[] {
    this.#check(position);
    const first = this.arity * position + 1;
    const count = Math.max(0, Math.min(this.arity, this.size - first));
    return Array.from({ length: count }, (_, i) => first + i);
  }

  depth(position: Position): number {
    this.#check(position);
    if (this.arity === 1) return position;
    let depth = 0;
    for (let at = position; at > 0; at = this.#up(at)) depth++;
    return depth;
  }

  subtree(position: Position): readonly Position[] {
    return subtreeOf(this, position);
  }

  /** Adds up the levels below: each level of a subtree is one interval of positions. O(height). */
  subtreeSize(position: Position): number {
    this.#check(position);
    if (this.arity === 1) return this.size - position;
    let count = 0;
    for (let first = position, last = position; first < this.size; ) {
      count += Math.min(last, this.size - 1) - first + 1;
      first = this.arity * first + 1;
      last = this.arity * last + this.arity;
    }
    return count;
  }

  isAncestor(ancestor: Position, position: Position): boolean {
    this.#check(ancestor);
    this.#check(position);
    if (this.arity === 1) return ancestor < position;
    return ancestor < position && this.#under(ancestor, position) !== undefined;
  }

  neighbours(position: Position): readonly Position[] {
    const children = this.children(position);
    return position === 0 ? children : [this.#up(position), ...children];
  }

  nextHop(source: Position, target: Position, dead?: ReadonlySet<Position>): Position | undefined {
    this.#check(source);
    this.#check(target);
    if (source === target) return undefined;
    if (dead !== undefined && dead.size > 0 && this.#pathMeets(source, target, dead)) return undefined;
    if (this.arity === 1) return source < target ? source + 1 : source - 1;
    const below = source < target ? this.#under(source, target) : undefined;
    return below ?? this.#up(source);
  }

  spanningTree(root: Position): SpanningTree {
    this.#check(root);
    return root === 0 ? this.#own() : new ReRooted(this, root);
  }

  #own(): SpanningTree {
    return {
      root: 0,
      parent: (position) => this.parent(position),
      children: (position) => this.children(position),
      depth: (position) => this.depth(position),
      subtreeSize: (position) => this.subtreeSize(position),
    };
  }

  #up(position: Position): Position {
    return Math.floor((position - 1) / this.arity);
  }

  /** The child of `ancestor` at or above `position`; undefined if `position` is not below `ancestor`. */
  #under(ancestor: Position, position: Position): Position | undefined {
    for (let at = position; at > ancestor; ) {
      const above = this.#up(at);
      if (above === ancestor) return at;
      at = above;
    }
    return undefined;
  }

  /** Whether the path contains a dead position; the common ancestor is checked when the first end reaches it. */
  #pathMeets(source: Position, target: Position, dead: ReadonlySet<Position>): boolean {
    if (this.arity === 1) {
      const [low, high] = source < target ? [source, target] : [target, source];
      for (const position of dead) if (position >= low && position <= high) return true;
      return false;
    }
    let [a, b] = [source, target];
    while (a !== b) {
      if (dead.has(a) || dead.has(b)) return true;
      if (a > b) a = this.#up(a);
      else b = this.#up(b);
    }
    return false;
  }

  /** Along the leftmost branches of the root's first two children: no two other leaves are further apart. */
  #longestPath(): number {
    if (this.arity === 1 || this.size <= 2) return this.size - 1;
    let second = 1;
    for (let at = this.arity * 2 + 1; at < this.size; at = this.arity * at + 1) second++;
    return this.height + second;
  }

  #check(position: Position): void {
    assert(
      Number.isInteger(position) && position >= 0 && position < this.size,
      `position is in 0..${this.size - 1}, got ${position}`,
    );
  }
}

/** The same edges with another root: only the path from the old root to the new one is reversed. */
class ReRooted implements SpanningTree {
  readonly root: Position;
  readonly #tree: TreeTopology;

  constructor(tree: TreeTopology, root: Position) {
    this.#tree = tree;
    this.root = root;
  }

  parent(position: Position): Position | undefined {
    return this.#tree.nextHop(position, this.root);
  }

  children(position: Position): readonly Position[] {
    const parent = this.parent(position);
    return this.#tree.neighbours(position).filter((neighbour) => neighbour !== parent);
  }

  depth(position: Position): number {
    const tree = this.#tree;
    if (tree.arity === 1) return Math.abs(position - this.root);
    let hops = 0;
    for (let a = position, b = this.root; a !== b; hops++) {
      if (a > b) a = tree.parent(a) ?? 0;
      else b = tree.parent(b) ?? 0;
    }
    return hops;
  }

  subtreeSize(position: Position): number {
    const tree = this.#tree;
    if (position === this.root) return tree.size;
    if (!tree.isAncestor(position, this.root)) return tree.subtreeSize(position);
    return tree.size - tree.subtreeSize(this.parent(position) ?? 0);
  }
}
