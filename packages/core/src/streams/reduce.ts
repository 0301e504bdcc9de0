/**
 * Reduction on the way up (STCI paper, II-E.2c): a node of the stream's tree combines its own contribution with one of
 * each child, round by round. Pure: contributions in, combined rounds out, in order.
 */

import { StciError, type Reduction } from '@stci/interface';
import { BODY_BYTES_MAX, members } from '../codec/bounds.js';
import { any, check, tuple, u32 } from '../codec/shape.js';

/**
 * `concat` keeps the contributor, so that the result does not depend on the order of arrival: `[[member, items], …]`.
 */
type Tagged = readonly (readonly [number, readonly unknown[]])[];

const tagged = members(tuple(u32, members(any(BODY_BYTES_MAX))));

/** A member's contribution in its wire form. */
export function tagContribution(reduction: Reduction, member: number, data: unknown): unknown {
  if (reduction !== 'concat') return data;
  if (!Array.isArray(data)) throw mismatch(reduction, 'a list', data);
  return [[member, data]];
}

/** Throws STCI_MESSAGE_INVALID if a child's value is no contribution to this reduction. */
export function checkContribution(reduction: Reduction, value: unknown): void {
  if (reduction === 'none') throw new StciError('STCI_MESSAGE_INVALID', 'A stream without reduction combines nothing');
  if (reduction === 'concat') check(tagged, value, 'contribution');
}

/** The result at the root, from its wire form. */
export function untagResult(reduction: Reduction, combined: unknown): unknown {
  if (reduction !== 'concat') return combined;
  return [...(combined as Tagged)].sort((a, b) => a[0] - b[0]).flatMap(([, items]) => items);
}

function mismatch(reduction: Reduction, expected: string, got: unknown): StciError {
  return new StciError('STCI_STREAM_INVALID', `Expected ${expected} for the reduction ${reduction}, got ${typeof got}`);
}

function numbers(reduction: Reduction, a: unknown, b: unknown): [number, number] {
  if (typeof a !== 'number') throw mismatch(reduction, 'a number', a);
  if (typeof b !== 'number') throw mismatch(reduction, 'a number', b);
  return [a, b];
}

function booleans(reduction: Reduction, a: unknown, b: unknown): [boolean, boolean] {
  if (typeof a !== 'boolean') throw mismatch(reduction, 'a boolean', a);
  if (typeof b !== 'boolean') throw mismatch(reduction, 'a boolean', b);
  return [a, b];
}

/** Associative, and commutative but for the order that `untagResult` restores. Throws STCI_STREAM_INVALID. */
function combine(reduction: Reduction, a: unknown, b: unknown): unknown {
  switch (reduction) {
    case 'sum': {
      const [x, y] = numbers(reduction, a, b);
      return x + y;
    }
    case 'min':
      return Math.min(...numbers(reduction, a, b));
    case 'max':
      return Math.max(...numbers(reduction, a, b));
    case 'and': {
      const [x, y] = booleans(reduction, a, b);
      return x && y;
    }
    case 'or': {
      const [x, y] = booleans(reduction, a, b);
      return x || y;
    }
    case 'concat':
      if (!Array.isArray(a) || !Array.isArray(b)) throw mismatch(reduction, 'a list', a);
      return [...(a as unknown[]), ...(b as unknown[])];
    case 'none':
      throw new StciError('STCI_STREAM_INVALID', 'A stream without reduction combines nothing');
  }
}

/** Open rounds at one node: how far a fast child may run ahead of a slow one. */
export const ROUNDS_MAX = 1024;

interface Round {
  missing: number;
  value: unknown;
}

export class RoundTable {
  readonly #reduction: Reduction;
  readonly #contributors: number;
  readonly #rounds = new Map<number, Round>();

  /** `contributors`: the node itself and its children in the stream's tree. */
  constructor(reduction: Reduction, contributors: number) {
    this.#reduction = reduction;
    this.#contributors = contributors;
  }

  get open(): number {
    return this.#rounds.size;
  }

  /** Returns the combined value with the last contribution of its round. Throws STCI_STREAM_INVALID. */
  contribute(round: number, value: unknown): { value: unknown } | undefined {
    const entry = this.#rounds.get(round);
    if (entry === undefined) {
      if (this.#contributors === 1) return { value };
      if (this.#rounds.size >= ROUNDS_MAX) {
        throw new StciError('STCI_STREAM_INVALID', `More than ${ROUNDS_MAX} rounds are open: a member is too slow`);
      }
      this.#rounds.set(round, { missing: this.#contributors - 1, value });
      return undefined;
    }
    entry.value = combine(this.#reduction, entry.value, value);
    entry.missing -= 1;
    if (entry.missing > 0) return undefined;
    this.#rounds.delete(round);
    return { value: entry.value };
  }
}
