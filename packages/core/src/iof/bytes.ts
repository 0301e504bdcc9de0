/**
 * Helpers on bytes of output: finding line ends, prefixes of lines, copies. Output is never decoded on its way: a
 * character split over two chunks stays intact because its bytes stay in order.
 */

export const NEWLINE = 0x0a;

export const NO_BYTES = new Uint8Array(0);
export const NEWLINE_BYTES = new Uint8Array([NEWLINE]);

/** Conversion of bytes to text and back, provided by the platform. */
export interface TextCodec {
  encode(text: string): Uint8Array;
  /** undefined if the bytes are not UTF-8. */
  decode(bytes: Uint8Array): string | undefined;
  base64(bytes: Uint8Array): string;
}

/** Bytes to be kept: a copy, unless they are at least so much of their buffer, all of which they would retain. */
export function ownBytes(bytes: Uint8Array, shareMin = 1 / 2): Uint8Array {
  return bytes.length < bytes.buffer.byteLength * shareMin ? bytes.slice() : bytes;
}

/** Average length of lines in bytes from which they are copied line by line; shorter ones byte by byte. */
const LONG_LINE_BYTES = 12;
const SAMPLE_BYTES = 1024;

/**
 * Puts `prefix` before every line of `bytes`, which must end in a newline. One allocation. A call that searches or
 * copies costs as much as a loop over about 12 bytes.
 */
export function prefixLines(bytes: Uint8Array, prefix: Uint8Array): Uint8Array {
  const sampleBytes = Math.min(bytes.length, SAMPLE_BYTES);
  const isShort = countLines(bytes, sampleBytes) * LONG_LINE_BYTES > sampleBytes;
  return isShort ? prefixShortLines(bytes, prefix) : prefixLongLines(bytes, prefix);
}

function prefixShortLines(bytes: Uint8Array, prefix: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length + countLines(bytes, bytes.length) * prefix.length);
  let to = 0;
  let atStart = true;
  for (let from = 0; from < bytes.length; from += 1) {
    if (atStart) to = put(out, prefix, to);
    const byte = bytes[from] as number;
    out[to++] = byte;
    atStart = byte === NEWLINE;
  }
  return out;
}

/** Puts all bytes at the end of the result, then moves each line to its place after its prefix. */
function prefixLongLines(bytes: Uint8Array, prefix: Uint8Array): Uint8Array {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at + 1);
  const shift = ends.length * prefix.length;
  const out = new Uint8Array(bytes.length + shift);
  out.set(bytes, shift);
  let from = 0;
  let to = 0;
  for (const end of ends) {
    to = put(out, prefix, to);
    out.copyWithin(to, shift + from, shift + end);
    to += end - from;
    from = end;
  }
  return out;
}

function put(out: Uint8Array, prefix: Uint8Array, at: number): number {
  for (let i = 0; i < prefix.length; i += 1) out[at + i] = prefix[i] as number;
  return at + prefix.length;
}

function countLines(bytes: Uint8Array, end: number): number {
  let lines = 0;
  for (let at = 0; at < end; at += 1) {
    if (bytes[at] === NEWLINE) lines += 1;
  }
  return lines;
}
