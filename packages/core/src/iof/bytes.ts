/**
 * Small helpers on bytes for output: finding line ends, joining pieces, plain ASCII text to bytes. Output is never
 * decoded on its way: a character that was split over two chunks is whole again because its bytes stay in order.
 */

export const NEWLINE = 0x0a;

export const NO_BYTES = new Uint8Array(0);
export const NEWLINE_BYTES = new Uint8Array([NEWLINE]);

/** What the pure parts need to turn bytes to text and back; the platform side gives it. */
export interface TextCodec {
  encode(text: string): Uint8Array;
  /** undefined where the bytes are not UTF-8. */
  decode(bytes: Uint8Array): string | undefined;
  base64(bytes: Uint8Array): string;
}

/** The pieces as one array; a single piece is returned as it is. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** `prefix` before every line of `bytes`, of which the last ends in a newline. One allocation for all. */
export function prefixLines(bytes: Uint8Array, prefix: Uint8Array): Uint8Array {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  const out = new Uint8Array(bytes.length + lines * prefix.length);
  // A line is short as a rule: copying byte by byte beats a subarray and a set for each of them.
  let to = 0;
  let atStart = true;
  for (let from = 0; from < bytes.length; from += 1) {
    if (atStart) {
      for (let i = 0; i < prefix.length; i += 1) out[to++] = prefix[i] as number;
    }
    const byte = bytes[from] as number;
    out[to++] = byte;
    atStart = byte === NEWLINE;
  }
  return out;
}
