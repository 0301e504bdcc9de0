// @ts-check
/**
 * The torus: positions on a grid of three dimensions x, y, z, linked with the next one in both directions of each, the
 * ends joined. x counts fastest: position = x + y · X + z · X · Y.
 *
 * Routes are dimension-ordered: they correct the first dimension wholly, then the second, then the third, each the
 * shorter way round, and upwards where both are as long. So two routes to the same target never part once they have
 * met, which is what makes all routes to a root its spanning tree.
 *
 * @typedef {import('@stci/interface').Position} Position
 * @typedef {readonly [x: number, y: number, z: number]} Point
 */

import { nextHopAround } from '@stci/core/component';

/** Three factors of `size` with the smallest sum, largest first: 64 → 4, 4, 4; 12 → 3, 2, 2.
 * @param {number} size
 * @returns {Point}
 */
export function nearCubic(size) {
  let best = /** @type {Point} */ ([size, 1, 1]);
  for (let z = 1; z * z * z <= size; z++) {
    if (size % z !== 0) continue;
    const area = size / z;
    let y = Math.floor(Math.sqrt(area));
    while (area % y !== 0) y--;
    const point = /** @type {Point} */ ([area / y, y, z]);
    if (sum(point) < sum(best)) best = [...point].sort((a, b) => b - a);
  }
  return best;
}

/** @param {readonly number[]} numbers */
const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

/**
 * @param {Point} dimensions each at least 1
 * @param {'xyz' | 'zyx'} order
 * @returns {import('@stci/interface').Topology}
 */
export function createTorus(dimensions, order) {
  const [X, Y, Z] = dimensions;
  const size = X * Y * Z;
  const strides = [1, X, X * Y];
  const inOrder = order === 'xyz' ? [0, 1, 2] : [2, 1, 0];

  /** @type {(position: Position, d: number) => number} */
  const coordinate = (position, d) => Math.floor(position / strides[d]) % dimensions[d];

  /** Steps from one coordinate to another, the shorter way: positive is upwards.
   * @type {(source: Position, target: Position, d: number) => number} */
  const offset = (source, target, d) => {
    const up = (coordinate(target, d) - coordinate(source, d) + dimensions[d]) % dimensions[d];
    return up <= dimensions[d] - up ? up : up - dimensions[d];
  };

  /** @type {(position: Position, d: number, steps: number) => Position} */
  const moved = (position, d, steps) => {
    const from = coordinate(position, d);
    return position + ((from + steps + dimensions[d]) % dimensions[d] - from) * strides[d];
  };

  /** @type {(source: Position, target: Position) => number | undefined} */
  const firstDifference = (source, target) => inOrder.find((d) => coordinate(source, d) !== coordinate(target, d));

  /** @type {(source: Position, target: Position) => Position} */
  const step = (source, target) => {
    const d = firstDifference(source, target);
    return d === undefined ? source : moved(source, d, Math.sign(offset(source, target, d)));
  };

  /** Kept: a search around dead positions comes by all of them. @type {Map<Position, readonly Position[]>} */
  const known = new Map();

  /** @type {(position: Position) => readonly Position[]} */
  const neighbours = (position) => {
    let found = known.get(position);
    if (found === undefined) {
      const all = inOrder.flatMap((d) => [moved(position, d, 1), moved(position, d, -1)]);
      found = [...new Set(all)].filter((other) => other !== position).sort((a, b) => a - b);
      known.set(position, found);
    }
    return found;
  };

  /**
   * Of the positions whose route to the root passes this one: what is corrected before its first difference, d, may be
   * anything; in d they lie as far out on the same side, or farther; what comes after is equal.
   * @type {(position: Position, root: Position) => number}
   */
  const subtreeSize = (position, root) => {
    const d = firstDifference(position, root);
    if (d === undefined) return size;
    const steps = offset(position, root, d);
    const farthest = Math.floor((steps > 0 ? dimensions[d] : dimensions[d] - 1) / 2);
    const before = inOrder.slice(0, inOrder.indexOf(d)).reduce((product, each) => product * dimensions[each], 1);
    return before * (farthest - Math.abs(steps) + 1);
  };

  return {
    kind: 'torus',
    size,
    diameter: sum(dimensions.map((each) => Math.floor(each / 2))),
    neighbours,
    nextHop: (source, target, dead) => nextHopAround({ neighbours }, step, source, target, dead),
    spanningTree: (root) => {
      /** @type {(position: Position) => Position | undefined} */
      const parent = (position) => (position === root ? undefined : step(position, root));
      return {
        root,
        parent,
        children: (position) => neighbours(position).filter((other) => parent(other) === position),
        depth: (position) => sum(inOrder.map((d) => Math.abs(offset(position, root, d)))),
        subtreeSize: (position) => subtreeSize(position, root),
      };
    },
  };
}
