/**
 * CBOR: the only file that uses cbor-x. Plain maps, arrays, numbers, strings and byte strings; no tags and no record
 * extensions, so that any CBOR reader can decode the bytes. Input is checked before cbor-x sees it (cbor-check.ts).
 * Decoded byte strings share memory with the input.
 */

import { StciError, assert, extendFront } from '@stci/interface';
import { Encoder } from 'cbor-x/index-no-eval';
import { cborProblem, hasProtoKey } from './cbor-check.js';

const encoder = new Encoder({
  useRecords: false,
  variableMapSize: true,
  tagUint8Array: false,
  mapsAsObjects: true,
});

/** cbor-x renames a key `__proto__` in objects; in maps it does not. */
const mapDecoder = new Encoder({ useRecords: false, mapsAsObjects: false });

/** Length of the longest array, with the tail, whose CBOR head is one byte. */
const TAIL_HEAD_MAX = 22;

export function encode(value: unknown): Uint8Array {
  return encoder.encode(value);
}

/** Throws STCI_CODEC_INVALID for truncated, trailing or hostile bytes, and more than `itemsMax` items, keys too. */
export function decode(bytes: Uint8Array, itemsMax?: number): unknown {
  const problem = cborProblem(bytes, itemsMax);
  if (problem !== undefined) throw new StciError('STCI_CODEC_INVALID', `Expected one plain CBOR value: ${problem}`);
  try {
    return hasProtoKey() ? withObjects(mapDecoder.decode(bytes)) : (encoder.decode(bytes) as unknown);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new StciError('STCI_CODEC_INVALID', `Expected one whole CBOR value of ${bytes.length} bytes: ${text}`);
  }
}

/** Maps as objects with own properties only; the check has bounded the depth. */
function withObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withObjects);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...(value as Map<string, unknown>)].map(([key, item]) => [key, withObjects(item)]));
}

/**
 * The CBOR array `[...head, tail]` in two pieces, the second of them `tail` itself, or in one if `tail` has room in
 * front: a chunk of output is labelled without a copy. `head` has at most 22 items.
 */
export function encodeWithTail(head: readonly unknown[], tail: Uint8Array): Uint8Array[] {
  assert(head.length <= TAIL_HEAD_MAX, `a head before a tail has at most ${TAIL_HEAD_MAX} items`);
  const encoded = encoder.encode(head) as Uint8Array;
  const whole = extendFront(tail, encoded.length + 5);
  const prefix = whole ?? new Uint8Array(encoded.length + 5);
  prefix.set(encoded);
  prefix[0] = 0x80 + head.length + 1;
  prefix[encoded.length] = 0x5a;
  new DataView(prefix.buffer, prefix.byteOffset).setUint32(encoded.length + 1, tail.length);
  return whole === undefined ? [prefix, tail] : [whole];
}
