/**
 * Random numbers: xoshiro128** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021), its state
 * initialized with splitmix32. For choices and jitter, never for secrets. A fork's numbers depend only on the seed and
 * the label, not on earlier draws, so that a new use of the generator does not shift all others.
 */

import { assert } from '@stci/interface';
import type { Random } from '@stci/interface';
import { randomBytes } from './secrets.js';

const RANGE = 0x1_0000_0000;

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function splitmix32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e37_79b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}

/** FNV-1a over the label's UTF-16 units, started from the seed. */
function labelSeed(seed: number, label: string): number {
  let hash = (seed ^ 0x811c_9dc5) | 0;
  for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x0100_0193);
  return hash >>> 0;
}

type State = [number, number, number, number];

/** One step of xoshiro128**: the next 32 bits; advances the state. */
export function nextBits(s: State): number {
  const result = Math.imul(rotateLeft(Math.imul(s[1], 5), 7), 9);
  const shifted = s[1] << 9;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotateLeft(s[3], 11);
  return result >>> 0;
}

function systemSeed(): number {
  return new DataView(randomBytes(4).buffer).getUint32(0);
}

class Xoshiro implements Random {
  #seed: number | undefined;
  #state: State | undefined;

  constructor(seed: number | undefined) {
    this.#seed = seed;
  }

  /** The system's source is read at the first use only: many agents draw nothing. */
  #seeded(): number {
    return (this.#seed ??= systemSeed());
  }

  #next(): number {
    if (this.#state === undefined) {
      const fill = splitmix32(this.#seeded());
      this.#state = [fill(), fill(), fill(), fill()];
    }
    return nextBits(this.#state);
  }

  uniform(): number {
    // 53 bits: 27 of one draw, 26 of the next.
    return ((this.#next() >>> 5) * 0x400_0000 + (this.#next() >>> 6)) / 0x20_0000_0000_0000;
  }

  integer(below: number): number {
    assert(Number.isInteger(below) && below >= 1 && below <= RANGE, `1 <= below <= 2^32, got ${below}`);
    // Draws above the last whole multiple of `below` would favour small numbers: draw again.
    const limit = RANGE - (RANGE % below);
    let drawn = this.#next();
    while (drawn >= limit) drawn = this.#next();
    return drawn % below;
  }

  fork(label: string): Random {
    return new Xoshiro(labelSeed(this.#seeded(), label));
  }
}

/** Seeded with the lower 32 bits of `seed`, or from the system if it is undefined. */
export function createRandom(seed?: number): Random {
  return new Xoshiro(seed === undefined ? undefined : seed >>> 0);
}
