/**
 * Checks that bytes are one CBOR value (RFC 8949) of the plain kind that agents send, without decoding it: maps with
 * text keys, arrays, strings, numbers, booleans, null. What could make a decoder expensive or unsafe is refused: tags
 * (a bignum of a megabyte takes minutes), indefinite lengths, counts and lengths beyond the input, deep nesting,
 * integers that a double cannot represent. One pass, no recursion, no memory but for the depth.
 */

/** Nested arrays and maps. */
const DEPTH_MAX = 64;

const MAJOR = { bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

/** Largest additional information of an item's head that is itself the value. */
const DIRECT_MAX = 23;
const INFO_8_BYTES = 27;
const INDEFINITE = 31;

/** Values of major type 7: false, true, null, undefined, and floats of 2, 4 and 8 bytes. */
const SIMPLE_MIN = 20;
const FLOAT_MIN = 25;

const CUT = 'fewer bytes than its length';

/** Returns what is wrong, more than `itemsMax` items too; undefined if nothing is. */
export function cborProblem(bytes: Uint8Array, itemsMax = Infinity): string | undefined {
  return SCAN.run(bytes, itemsMax);
}

/** Whether the value that `cborProblem` has just accepted has a key `__proto__` anywhere. */
export function hasProtoKey(): boolean {
  return SCAN.protoKey;
}

const PROTO = [...'__proto__'].map((character) => character.charCodeAt(0));

class Scan {
  protoKey = false;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** Open arrays and maps: the items still expected in each, and whether it is a map. */
  #depth = 0;
  readonly #left = new Float64Array(DEPTH_MAX);
  readonly #isMap = new Uint8Array(DEPTH_MAX);

  run(bytes: Uint8Array, itemsMax: number): string | undefined {
    let items = 0;
    this.#bytes = bytes;
    this.#at = 0;
    this.#depth = 0;
    this.protoKey = false;
    do {
      const problem = this.#item();
      if (problem !== undefined) return `${problem}, at byte ${this.#at}`;
      items += 1;
      if (items > itemsMax) return `more than ${itemsMax} items`;
      while (this.#depth > 0 && this.#left[this.#depth - 1] === 0) this.#depth -= 1;
    } while (this.#depth > 0);
    const trailing = bytes.length - this.#at;
    return trailing === 0 ? undefined : `${trailing} bytes after the value`;
  }

  #item(): string | undefined {
    const head = this.#bytes[this.#at];
    if (head === undefined) return CUT;
    const major = head >>> 5;
    const info = head & 31;
    if (this.#depth > 0) {
      const last = this.#depth - 1;
      const left = this.#left[last] as number;
      if (this.#isMap[last] === 1 && left % 2 === 0) {
        if (major !== MAJOR.text) return 'a key that is no text';
        this.protoKey ||= info === PROTO.length && PROTO.every((byte, i) => this.#bytes[this.#at + 1 + i] === byte);
      }
      this.#left[last] = left - 1;
    }
    if (major === MAJOR.tag) return 'a tag, which agents never send';
    if (info === INDEFINITE) return 'an indefinite length, which agents never send';
    if (major === MAJOR.simple) return this.#simple(info);
    const value = this.#argument(info);
    if (value === undefined) return CUT;
    if (major < MAJOR.bytes) return value <= Number.MAX_SAFE_INTEGER ? undefined : 'an integer over 2^53 - 1';
    const room = this.#bytes.length - this.#at;
    if (major >= MAJOR.array) return this.#open(major === MAJOR.map, value, room);
    this.#at += Math.min(value, room);
    return value > room ? CUT : undefined;
  }

  #simple(info: number): string | undefined {
    if (info < SIMPLE_MIN || info === DIRECT_MAX + 1 || info > INFO_8_BYTES) return 'an unknown simple value';
    this.#at += info < FLOAT_MIN ? 1 : 1 + 2 ** (info - FLOAT_MIN + 1);
    return this.#at > this.#bytes.length ? CUT : undefined;
  }

  /** The argument of a head, in it or in the bytes after it; undefined if these are cut off. */
  #argument(info: number): number | undefined {
    this.#at += 1;
    if (info <= DIRECT_MAX) return info;
    if (info > INFO_8_BYTES) return undefined;
    const end = this.#at + 2 ** (info - DIRECT_MAX - 1);
    if (end > this.#bytes.length) return undefined;
    let value = 0;
    for (; this.#at < end; this.#at++) value = value * 256 + (this.#bytes[this.#at] as number);
    return value;
  }

  /** Each item takes at least a byte. */
  #open(isMap: boolean, count: number, room: number): string | undefined {
    const items = isMap ? 2 * count : count;
    if (items > room) return CUT;
    if (this.#depth === DEPTH_MAX) return `more than ${DEPTH_MAX} nested arrays and maps`;
    this.#left[this.#depth] = items;
    this.#isMap[this.#depth] = isMap ? 1 : 0;
    this.#depth += 1;
    return undefined;
  }
}

/** One instance is enough: a scan is over before the next begins. */
const SCAN = new Scan();
