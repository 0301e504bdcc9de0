/**
 * The random numbers of a schedule. Each draw is a function of the seed, the repeat, the fault's name, what is drawn,
 * and a counter, by SHA-256: the same on each machine, and not changed by other faults, or by what they draw.
 */

import { sha256 } from '@stci/interface';

const HIGH_BITS = 2 ** 21;
const UNIFORM_STEPS = 2 ** 53;

export class Draws {
  readonly #key: string;
  #count = 0;

  /** `key`: texts in ASCII, as names of faults are. As JSON, different lists are different texts. */
  constructor(key: readonly (string | number)[]) {
    this.#key = JSON.stringify(key);
  }

  /** Uniform in [0, 1), 53 bits. */
  uniform(): number {
    const text = `${this.#key}${this.#count++}`;
    const digest = sha256(Uint8Array.from(text, (character) => character.charCodeAt(0)));
    const view = new DataView(digest.buffer, digest.byteOffset);
    return (view.getUint32(0) * HIGH_BITS + (view.getUint32(4) >>> 11)) / UNIFORM_STEPS;
  }

  /** Uniform in 0..below-1. */
  integer(below: number): number {
    return Math.floor(this.uniform() * below);
  }

  /** `count` of them, each at most once, in the order drawn; all of them where there are fewer. */
  sample<Value>(values: readonly Value[], count: number): Value[] {
    const rest = [...values];
    const chosen: Value[] = [];
    for (let at = 0; at < Math.min(count, values.length); at++) {
      const other = at + this.integer(rest.length - at);
      chosen.push(rest[other]!);
      rest[other] = rest[at]!;
    }
    return chosen;
  }
}
