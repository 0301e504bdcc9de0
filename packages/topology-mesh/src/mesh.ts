/**
 * The mesh: positions on a grid of one to three dimensions, linked with the next one in each direction; with `wrap` the
 * ends are joined, so that a wrapped line is a ring and a wrapped mesh a torus. The last dimension counts fastest.
 *
 * Routes correct one dimension after another, the shorter way round if there are two. All routes to one root form its
 * spanning tree: if j is the first dimension in which p differs from the root, the positions at and below p have any
 * values in the dimensions before j, and in j lie at p or further out on the same side.
 */

import { nextHopAround } from '@stci/core/component';
import { assert } from '@stci/interface';
import type { Position, SpanningTree, Topology } from '@stci/interface';

/** The mesh over the product of one to three `dimensions`, each at least 1. */
export function createMesh(dimensions: readonly number[], wrap: boolean): Topology {
  assert(dimensions.length >= 1 && dimensions.length <= 3, `a mesh has 1..3 dimensions, got ${dimensions.length}`);
  const good = dimensions.every((d) => Number.isInteger(d) && d >= 1);
  assert(good, `dimensions are at least 1, got ${dimensions.join('x')}`);
  return new Mesh(dimensions, wrap);
}

/** Three factors of `size`, largest first, with the smallest sum: 12 → 3, 2, 2; a prime p → p, 1, 1. */
export function nearCubic(size: number): readonly [number, number, number] {
  let best: [number, number, number] = [size, 1, 1];
  for (let c = 1; c * c * c <= size; c++) {
    if (size % c !== 0) continue;
    let b = Math.floor(Math.sqrt(size / c));
    while ((size / c) % b !== 0) b--;
    const a = size / c / b;
    if (b >= c && a + b + c < best[0] + best[1] + best[2]) best = [a, b, c];
  }
  return best;
}

class Mesh implements Topology {
  readonly kind = 'mesh';
  readonly size: number;
  readonly diameter: number;
  readonly #dimensions: readonly number[];
  /** Difference of numbers between neighbours in each dimension. */
  readonly #strides: readonly number[];
  readonly #wrap: boolean;

  constructor(dimensions: readonly number[], wrap: boolean) {
    this.#dimensions = dimensions;
    this.#strides = dimensions.map((_, i) => dimensions.slice(i + 1).reduce((product, d) => product * d, 1));
    this.#wrap = wrap;
    this.size = dimensions.reduce((product, d) => product * d, 1);
    this.diameter = dimensions.reduce((sum, d) => sum + (wrap ? Math.floor(d / 2) : d - 1), 0);
  }

  neighbours(position: Position): readonly Position[] {
    const found = new Set<Position>();
    this.#dimensions.forEach((size, i) => {
      const at = this.#coordinate(position, i);
      for (const next of [at - 1, at + 1]) {
        const inside = next >= 0 && next < size;
        if (inside || this.#wrap) found.add(this.#withCoordinate(position, i, (next + size) % size));
      }
    });
    found.delete(position);
    return [...found].sort((a, b) => a - b);
  }

  nextHop(source: Position, target: Position, dead?: ReadonlySet<Position>): Position | undefined {
    return nextHopAround(this, (from, to) => this.#step(from, to), source, target, dead);
  }

  spanningTree(root: Position): SpanningTree {
    const parent = (position: Position): Position | undefined => this.nextHop(position, root);
    return {
      root,
      parent,
      children: (position) => this.neighbours(position).filter((neighbour) => parent(neighbour) === position),
      depth: (position) =>
        this.#dimensions.reduce((sum, _, i) => sum + Math.abs(this.#offset(position, root, i)), 0),
      subtreeSize: (position) => this.#subtreeSize(position, root),
    };
  }

  #step(source: Position, target: Position): Position {
    const i = this.#firstDifference(source, target);
    const size = this.#dimensions[i]!;
    const next = this.#coordinate(source, i) + Math.sign(this.#offset(source, target, i));
    return this.#withCoordinate(source, i, (next + size) % size);
  }

  /** Signed number of steps from `source` to `target` in dimension i; positive if both ways are equally long. */
  #offset(source: Position, target: Position, i: number): number {
    const size = this.#dimensions[i]!;
    const plain = this.#coordinate(target, i) - this.#coordinate(source, i);
    if (!this.#wrap) return plain;
    const up = (plain + size) % size;
    return up <= size - up ? up : up - size;
  }

  #subtreeSize(position: Position, root: Position): number {
    if (position === root) return this.size;
    const i = this.#firstDifference(position, root);
    const size = this.#dimensions[i]!;
    const offset = this.#offset(position, root, i);
    const before = this.#dimensions.slice(0, i).reduce((product, d) => product * d, 1);
    const edge = this.#wrap ? Math.floor((offset > 0 ? size : size - 1) / 2) : this.#outwards(root, i, offset);
    return before * (edge - Math.abs(offset) + 1);
  }

  /** Without wrap: the number of positions in dimension i from which the root lies in the direction of `offset`. */
  #outwards(root: Position, i: number, offset: number): number {
    const at = this.#coordinate(root, i);
    return offset > 0 ? at : this.#dimensions[i]! - 1 - at;
  }

  #firstDifference(source: Position, target: Position): number {
    return this.#dimensions.findIndex((_, i) => this.#coordinate(source, i) !== this.#coordinate(target, i));
  }

  #coordinate(position: Position, i: number): number {
    return Math.floor(position / this.#strides[i]!) % this.#dimensions[i]!;
  }

  #withCoordinate(position: Position, i: number, coordinate: number): Position {
    return position + (coordinate - this.#coordinate(position, i)) * this.#strides[i]!;
  }
}
