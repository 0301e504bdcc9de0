/**
 * The binomial graph (protocols: RDaemon#, algorithm 1): position i of N is linked with i ± 2^k mod N for every 2^k <
 * N. Routes have at most log2 N hops, a position has at most 2 log2 N links, and the graph stays connected while fewer
 * than that many positions are dead.
 *
 * A hop takes the largest power of two that does not overshoot, in the direction that needs fewer hops. The spanning
 * tree is the binomial tree of any root: numbered from the root, the parent of v is v without its lowest set bit, so
 * that the positions at and below v are the interval that this bit spans.
 */

import { nextHopAround } from '@stci/core/component';
import { assert } from '@stci/interface';
import type { Position, SpanningTree, Topology } from '@stci/interface';

/** The binomial graph over `size` positions, 1 ≤ size ≤ 2^28. */
export function createBmg(size: number): Topology {
  assert(Number.isInteger(size) && size >= 1 && size <= 0x1000_0000, `bmg size is in 1..2^28, got ${size}`);
  return new Bmg(size);
}

class Bmg implements Topology {
  readonly kind = 'bmg';
  readonly size: number;
  #diameter: number | undefined;

  constructor(size: number) {
    this.size = size;
  }

  neighbours(position: Position): readonly Position[] {
    const found = new Set<Position>();
    for (let power = 1; power < this.size; power *= 2) {
      found.add(this.#wrap(position + power)).add(this.#wrap(position - power));
    }
    return [...found].sort((a, b) => a - b);
  }

  nextHop(source: Position, target: Position, dead?: ReadonlySet<Position>): Position | undefined {
    return nextHopAround(this, (from, to) => this.#greedy(from, to), source, target, dead);
  }

  /** Largest number of hops of these routes; computed at the first call, O(size). */
  get diameter(): number {
    if (this.#diameter === undefined) {
      let most = 0;
      for (let ahead = 1; ahead < this.size; ahead++) {
        most = Math.max(most, Math.min(bitCount(ahead), bitCount(this.size - ahead)));
      }
      this.#diameter = most;
    }
    return this.#diameter;
  }

  spanningTree(root: Position): SpanningTree {
    const { size } = this;
    const label = (position: Position): number => this.#wrap(position - root);
    return {
      root,
      parent: (position) => {
        const v = label(position);
        return v === 0 ? undefined : this.#wrap((v & (v - 1)) + root);
      },
      children: (position) => {
        const v = label(position);
        const children: Position[] = [];
        for (let power = 1; power < span(v, size) && v + power < size; power *= 2) {
          children.push(this.#wrap(v + power + root));
        }
        return children.sort((a, b) => a - b);
      },
      depth: (position) => bitCount(label(position)),
      subtreeSize: (position) => {
        const v = label(position);
        return Math.min(span(v, size), size - v);
      },
    };
  }

  #greedy(source: Position, target: Position): Position {
    const ahead = this.#wrap(target - source);
    const behind = this.size - ahead;
    const forward = bitCount(ahead) <= bitCount(behind);
    return this.#wrap(forward ? source + highestBit(ahead) : source - highestBit(behind));
  }

  #wrap(position: number): Position {
    return (position + this.size) % this.size;
  }
}

/** Labels at and below v: the value of its lowest set bit; all for the root. */
function span(v: number, size: number): number {
  return v === 0 ? size : v & -v;
}

function highestBit(value: number): number {
  return 2 ** (31 - Math.clz32(value));
}

function bitCount(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}
