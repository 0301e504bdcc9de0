/**
 * Records of the protocol of programs (docs/client-protocol.md): one line of JSON in ASCII, and as many raw bytes after
 * it as its member `bytes` says. Pure; the same at the agent, in the client library and in simulated programs.
 */

import { joinBytes } from './bytes.js';

const NEWLINE = 0x0a;
const NO_BYTES = new Uint8Array(0);

/** Characters that are decoded by one call. */
const PART = 4096;

/** The line of a record, before its checks. */
export type RecordHead = Readonly<Record<string, unknown>>;

export interface RecordLimits {
  /** Longest line, without its end. */
  readonly lineBytesMax: number;
  /** Most raw bytes of one record; or of this one, if that depends on it. */
  readonly bytesMax: number | ((head: RecordHead) => number);
}

/** A record as bytes: characters beyond ASCII are escaped, and `bytes` is added if there are any. */
export function programRecord(head: object, bytes: Uint8Array = NO_BYTES): Uint8Array {
  const text = JSON.stringify(bytes.length > 0 ? { ...head, bytes: bytes.length } : head)
    .replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const record = new Uint8Array(text.length + 1 + bytes.length);
  for (let i = 0; i < text.length; i++) record[i] = text.charCodeAt(i);
  record[text.length] = NEWLINE;
  record.set(bytes, text.length + 1);
  return record;
}

/** Takes bytes as they come, and passes whole records on. The same line after itself is passed on as the same head. */
export class RecordReader {
  readonly #limits: RecordLimits;
  readonly #onRecord: (head: RecordHead, bytes: Uint8Array) => void;
  /** The begin of a line. */
  #rest: Uint8Array = NO_BYTES;
  /** A record whose raw bytes are still to come. */
  #head: RecordHead | undefined;
  #body = NO_BYTES;
  #filled = 0;
  /** Of the last record. What takes part in many barriers says the same each time: it is not parsed again. */
  #lastText = '';
  #lastHead: RecordHead | undefined;

  constructor(limits: RecordLimits, onRecord: (head: RecordHead, bytes: Uint8Array) => void) {
    this.#limits = limits;
    this.#onRecord = onRecord;
  }

  /** Returns what breaks the protocol, if something does: the rest of a sentence. `chunk` may be reused afterwards. */
  add(chunk: Uint8Array): string | undefined {
    let at = 0;
    while (at < chunk.length || this.#isWhole) {
      if (this.#head !== undefined) at = this.#fill(chunk, at);
      else {
        const end = chunk.indexOf(NEWLINE, at);
        const until = end < 0 ? chunk.length : end;
        if (this.#rest.length + until - at > this.#limits.lineBytesMax) {
          return `a line is longer than ${this.#limits.lineBytesMax} bytes`;
        }
        if (end < 0) {
          this.#rest = joinBytes([this.#rest, chunk.subarray(at)]);
          return undefined;
        }
        const part = chunk.subarray(at, end);
        const line = this.#rest.length === 0 ? part : joinBytes([this.#rest, part]);
        this.#rest = NO_BYTES;
        at = end + 1;
        const problem = this.#begin(line);
        if (problem !== undefined) return problem;
      }
    }
    return undefined;
  }

  get #isWhole(): boolean {
    return this.#head !== undefined && this.#filled === this.#body.length;
  }

  #begin(line: Uint8Array): string | undefined {
    const text = textOf(line);
    const head = text === this.#lastText ? this.#lastHead : parsed(text);
    if (head === undefined) return 'a line is not an object in JSON';
    [this.#lastText, this.#lastHead] = [text, head];
    const { bytes = 0 } = head;
    const { bytesMax: limit } = this.#limits;
    const bytesMax = typeof limit === 'number' ? limit : limit(head);
    if (!Number.isInteger(bytes) || (bytes as number) < 0 || (bytes as number) > bytesMax) {
      // Whatever is no number may have no text either: { toString: 0 }.
      return `${wordOf(head)} has 0 to ${bytesMax} bytes, got ${typeof bytes === 'number' ? bytes : typeof bytes}`;
    }
    this.#head = head;
    this.#body = bytes === 0 ? NO_BYTES : new Uint8Array(bytes as number);
    this.#filled = 0;
    return undefined;
  }

  /** Copies what belongs to the record, and passes it on once it is whole. Returns where the next one begins. */
  #fill(chunk: Uint8Array, at: number): number {
    const count = Math.min(this.#body.length - this.#filled, chunk.length - at);
    if (count > 0) this.#body.set(chunk.subarray(at, at + count), this.#filled);
    this.#filled += count;
    if (this.#isWhole) {
      const [head, body] = [this.#head as RecordHead, this.#body];
      this.#head = undefined;
      this.#body = NO_BYTES;
      this.#onRecord(head, body);
    }
    return at + count;
  }
}

/** What kind of record it says it is. */
function wordOf({ type }: RecordHead): string {
  return typeof type === 'string' && /^[a-z-]{1,20}$/.test(type) ? type : 'a record';
}

function parsed(line: string): RecordHead | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as RecordHead) : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes beyond ASCII become characters of the same number: the reader's checks decide on them. */
function textOf(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PART) {
    text += String.fromCharCode.apply(undefined, bytes.subarray(at, at + PART) as unknown as number[]);
  }
  return text;
}
