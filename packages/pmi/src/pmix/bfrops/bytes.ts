/**
 * Bytes of bfrops v41: integers are flex128, seven bits a byte, low first, 0x80 = more follow; the ninth byte is a
 * whole one. Signed ones are zigzag before. A reader never goes beyond its bytes, and counts the values that it makes.
 */

import { refuseBody } from '../../bytes/refusal.js';

/** Values of one body, of which each costs memory here: the job info of ten thousand ranks has fewer. */
export const ITEMS_MAX = 0x4_0000;
/** Values within values. */
export const DEPTH_MAX = 16;

const FLEX_BYTES_MAX = 9;
/** What seven bytes hold: a number has it without loss. */
const SMALL_MAX = 2 ** 49;

export class ByteReader {
  readonly bytes: Uint8Array;
  at = 0;
  depth = 0;
  #items = 0;
  #low = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    const byte = this.bytes[this.at];
    if (byte === undefined) return refuseBody('another byte', 'the end');
    this.at += 1;
    return byte;
  }

  /** A view of the next bytes. */
  take(length: number): Uint8Array {
    if (length > this.left) refuseBody(`${this.left} bytes at most`, length);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** Unsigned, of at most `max` ≤ 2^53 - 1. */
  flex(max: number): number {
    const value = this.#isSmall() ? this.#low : Number(this.#large());
    return value <= max ? value : refuseBody(`an integer of at most ${max}`, value);
  }

  flexBig(): bigint {
    return this.#isSmall() ? BigInt(this.#low) : this.#large();
  }

  /** Signed, of at most 32 bits. */
  signed(bits: number): number {
    const value = this.#isSmall() ? this.#low : Number(this.#large());
    if (value >= 2 ** bits) refuseBody(`an integer of ${bits} bits`, value);
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  signedBig(): bigint {
    const raw = this.flexBig();
    return (raw & 1n) === 0n ? raw >> 1n : ~(raw >> 1n);
  }

  /** Reads an integer's first bytes into `#low`: true if it had no more. */
  #isSmall(): boolean {
    this.#low = 0;
    for (let factor = 1; factor < SMALL_MAX; factor *= 0x80) {
      const byte = this.byte();
      this.#low += (byte & 0x7f) * factor;
      if (byte < 0x80) return true;
    }
    return false;
  }

  /** The rest of an integer that is not small. */
  #large(): bigint {
    const eighth = this.byte();
    const value = BigInt(this.#low) + (BigInt(eighth & 0x7f) << 49n);
    return eighth < 0x80 ? value : value + (BigInt(this.byte()) << 56n);
  }

  /** A number of values to come, of which each takes a byte at least. */
  count(): number {
    return this.#counted(this.flex(Number.MAX_SAFE_INTEGER));
  }

  /** A count that is written as a signed INT32. */
  signedCount(): number {
    return this.#counted(this.signed(32));
  }

  #counted(count: number): number {
    if (count < 0 || count > this.left) refuseBody(`0 to ${this.left} values`, count);
    this.#items += count;
    return this.#items <= ITEMS_MAX ? count : refuseBody(`${ITEMS_MAX} values at most`, this.#items);
  }

  /** Values within a value. */
  nested<T>(read: () => T): T {
    if (this.depth >= DEPTH_MAX) refuseBody(`at most ${DEPTH_MAX} levels of values`, 'more');
    this.depth += 1;
    const value = read();
    this.depth -= 1;
    return value;
  }

  many<T>(count: number, read: (reader: ByteReader) => T): T[] {
    const values: T[] = [];
    for (let at = 0; at < count; at++) values.push(read(this));
    return values;
  }
}

export class ByteWriter {
  #buffer = new Uint8Array(128);
  #end = 0;

  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.#end] = value;
    this.#end += 1;
  }

  put(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  flex(value: number): void {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.byte((rest % 0x80) | 0x80);
    this.byte(rest);
  }

  flexBig(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    for (let at = 1; at < FLEX_BYTES_MAX && rest >= 0x80n; at++, rest >>= 7n) this.byte(Number(rest & 0x7fn) | 0x80);
    this.byte(Number(rest));
  }

  signed(value: number): void {
    this.flex(value < 0 ? -2 * value - 1 : 2 * value);
  }

  signedBig(value: bigint): void {
    this.flexBig(value < 0n ? (~value << 1n) + 1n : value << 1n);
  }

  /** A copy of all. */
  finish(): Uint8Array {
    return this.#buffer.slice(0, this.#end);
  }

  #room(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#buffer.length) return;
    const next = new Uint8Array(needed * 2);
    next.set(this.#buffer.subarray(0, this.#end));
    this.#buffer = next;
  }
}
