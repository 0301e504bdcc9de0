/**
 * Seeded random numbers: the generator sfc32, seeded with a text. A fork depends only on the seed and the label, not on
 * earlier draws, so that a change in one part of a run does not change the others' numbers. A run can be renewed at any
 * moment: from then on all its generators give other numbers.
 */

import type { Random } from '@stci/interface';

/** Derives four 32-bit words from a text (the mixing of cyrb128). */
function words(text: string): [number, number, number, number] {
  let a = 1779033703;
  let b = 3144134277;
  let c = 1013904242;
  let d = 2773480762;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = b ^ Math.imul(a ^ code, 597399067);
    b = c ^ Math.imul(b ^ code, 2869860233);
    c = d ^ Math.imul(c ^ code, 951274213);
    d = a ^ Math.imul(d ^ code, 2716044179);
  }
  return [a ^ b ^ c ^ d, b ^ a, c ^ a, d ^ a];
}

/** Part of the seed of a generator and of all its forks. */
interface Salt {
  text: string;
}

export class SimRandom implements Random {
  readonly #label: string;
  readonly #salt: Salt;
  /** The salt of the numbers that it gives. */
  #salted = '';
  #a = 0;
  #b = 0;
  #c = 0;
  #d = 0;

  constructor(label: string, salt: Salt = { text: '' }) {
    this.#label = label;
    this.#salt = salt;
    this.#seed();
  }

  #seed(): void {
    this.#salted = this.#salt.text;
    [this.#a, this.#b, this.#c, this.#d] = words(`${this.#label}${this.#salted}`);
    for (let round = 0; round < 12; round++) this.#next();
  }

  /** This generator, what it was forked from, and all forks of that give other numbers from now on, by this label. */
  renew(label: string): void {
    this.#salt.text = ` renewed ${label}`;
  }

  /** Uniform in 0..2^32-1. */
  word(): number {
    if (this.#salted !== this.#salt.text) this.#seed();
    return this.#next();
  }

  #next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  uniform(): number {
    return this.word() / 0x1_0000_0000;
  }

  integer(below: number): number {
    if (!(Number.isInteger(below) && below >= 1 && below <= 0x1_0000_0000)) {
      throw new RangeError(`Expected an integer bound in 1..2^32, got ${below}`);
    }
    return Math.floor(this.uniform() * below);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.uniform() < probability;
  }

  /** Uniform in [least, most). */
  between(least: number, most: number): number {
    return least + (most - least) * this.uniform();
  }

  pick<Value>(values: readonly Value[]): Value {
    if (values.length === 0) throw new RangeError('Expected at least one value to pick from, got none');
    return values[this.integer(values.length)] as Value;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let index = 0; index < length; index++) bytes[index] = this.word() & 0xff;
    return bytes;
  }

  fork(label: string): SimRandom {
    return new SimRandom(`${this.#label}/${label}`, this.#salt);
  }
}
