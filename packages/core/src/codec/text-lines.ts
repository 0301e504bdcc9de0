/** Lines of ASCII text, each ended by a line feed, from bytes as they come; and JSON as such a line. */

import { NEWLINE, NO_BYTES, joinBytes } from '../iof/bytes.js';

/** Characters that are decoded by one call. */
const PART = 4096;

export class TextLines {
  readonly #bytesMax: number;
  #rest: Uint8Array = NO_BYTES;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The lines that are complete now, without their ends; undefined if one is too long. */
  add(chunk: Uint8Array): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      if (this.#rest.length + end - from > this.#bytesMax) return undefined;
      lines.push(textOf(joinBytes([this.#rest, chunk.subarray(from, end)])));
      this.#rest = NO_BYTES;
      from = end + 1;
    }
    if (this.#rest.length + chunk.length - from > this.#bytesMax) return undefined;
    this.#rest = joinBytes([this.#rest, chunk.slice(from)]);
    return lines;
  }
}

/** Bytes beyond ASCII become characters of the same number: the reader's checks decide on them. */
function textOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART));
  return text;
}

/** The value as one line, characters beyond ASCII escaped. */
export function jsonLine(value: unknown): Uint8Array {
  const text = JSON.stringify(value).replace(/[^\x20-\x7e]/g, (char) =>
    `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const bytes = new Uint8Array(text.length + 1);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  bytes[text.length] = NEWLINE;
  return bytes;
}
