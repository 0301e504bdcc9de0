/** Helpers of the iof tests: a small seeded generator, ASCII bytes, a codec without any platform. */

import type { TextCodec } from '@stci/core/iof';

/** xorshift32: integers in [0, below). */
export function seeded(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}

export function text(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Knows ASCII alone; other bytes count as no text. */
export const codec: TextCodec = {
  encode: ascii,
  decode: (bytes) => (bytes.every((byte) => byte < 0x80) ? text(bytes) : undefined),
  base64: (bytes) => `b64:${[...bytes].join('.')}`,
};
