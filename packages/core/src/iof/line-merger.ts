/**
 * Merges the output of many ranks on one screen (or file) line by line: chunks in, runs of whole lines out. A chunk's
 * whole lines pass at once, together with what was held of the source's unfinished line; the unfinished rest is held
 * until its newline comes. So lines of two sources never mix, and each source keeps its order.
 *
 * A line is shown unfinished in three cases only: it exceeds the bound (or all held lines together do); its source has
 * ended; or it waits alone, like a prompt, while there is no other output. Then the screen is `open`: the source's next
 * bytes continue the line, and any other source starts with a newline.
 *
 * Pure: time comes in as `nowMs`, bytes go out through `emit`.
 */

import { joinBytes, entryOf } from '@stci/interface';
import { NEWLINE, NEWLINE_BYTES, prefixLines } from './bytes.js';
import type { SourceId } from './source.js';

export interface LineMergerParams {
  /** Longest line that is held, in bytes; a longer one is shown in pieces. */
  readonly lineBytesMax: number;
  /** Bound on all held lines, in bytes. */
  readonly heldBytesMax: number;
  /** Time after which an unfinished line that waits alone is shown; undefined: never (files). */
  readonly promptMs?: number;
  /** Prefix of a line of `source` that began at `wallMs`; undefined: none. */
  readonly prefix?: (source: SourceId, wallMs: number) => Uint8Array;
  /** Takes ownership of the bytes. */
  readonly emit: (bytes: Uint8Array) => void;
}

/** Prompts are short; a longer rest is a line cut by a full buffer, whose end will follow. */
const PROMPT_BYTES_MAX = 1024;

interface Held {
  pieces: Uint8Array[];
  bytes: number;
  wallMs: number;
}

export class LineMerger {
  readonly #params: LineMergerParams;
  readonly #held = new Map<SourceId, Held>();
  #heldBytes = 0;
  /** The source whose unfinished line is on the screen. */
  #open: SourceId | undefined;
  #lastPushMs = 0;

  constructor(params: LineMergerParams) {
    this.#params = params;
  }

  push(source: SourceId, chunk: Uint8Array, wallMs: number, nowMs: number): void {
    this.#lastPushMs = nowMs;
    let rest = chunk;
    if (this.#open === source) rest = this.#continueOpen(chunk);
    const end = rest.lastIndexOf(NEWLINE) + 1;
    if (end > 0) this.#whole(source, end === rest.length ? rest : rest.subarray(0, end), wallMs);
    if (end < rest.length) this.#hold(source, end === 0 ? rest : rest.subarray(end), wallMs);
  }

  /** The stream has ended: its held line is shown, with a newline if lines have a prefix. */
  end(source: SourceId): void {
    const tagged = this.#params.prefix !== undefined;
    if (this.#held.has(source)) this.#showHeld(source);
    if (this.#open !== source) return;
    if (tagged) this.#closeOpen();
  }

  /** When `tick` should be called next, on the clock of `nowMs`; undefined: not needed. */
  promptDueMs(): number | undefined {
    return this.#promptCandidate() === undefined ? undefined : this.#lastPushMs + (this.#params.promptMs ?? 0);
  }

  /** Shows a prompt that has waited long enough. */
  tick(nowMs: number): void {
    const source = this.#promptCandidate();
    if (source === undefined || nowMs < this.#lastPushMs + (this.#params.promptMs ?? 0)) return;
    this.#showHeld(source);
  }

  /** Ends an open line, so that another message can follow on the same screen. */
  breakLine(): void {
    if (this.#open !== undefined) this.#closeOpen();
  }

  /** The only source with an unfinished line, if it looks like a prompt. */
  #promptCandidate(): SourceId | undefined {
    if (this.#params.promptMs === undefined || this.#held.size !== 1) return undefined;
    for (const [source, held] of this.#held) return held.bytes <= PROMPT_BYTES_MAX ? source : undefined;
    return undefined;
  }

  /** Continues the open line with the chunk's bytes up to the first newline; returns the rest. */
  #continueOpen(chunk: Uint8Array): Uint8Array {
    const end = chunk.indexOf(NEWLINE) + 1;
    this.#params.emit(end === 0 || end === chunk.length ? chunk : chunk.subarray(0, end));
    if (end === 0) return chunk.subarray(chunk.length);
    this.#open = undefined;
    return chunk.subarray(end);
  }

  /** Emits whole lines; the first of them may have begun in held pieces. */
  #whole(source: SourceId, lines: Uint8Array, wallMs: number): void {
    if (this.#open !== undefined) this.#closeOpen();
    const prefix = this.#params.prefix;
    if (this.#held.size === 0 || !this.#held.has(source)) {
      this.#params.emit(prefix === undefined ? lines : prefixLines(lines, prefix(source, wallMs)));
      return;
    }
    const held = this.#take(source);
    if (prefix === undefined) {
      this.#params.emit(joinBytes(held.pieces));
      this.#params.emit(lines);
      return;
    }
    const first = lines.indexOf(NEWLINE) + 1;
    this.#params.emit(joinBytes([prefix(source, held.wallMs), ...held.pieces, lines.subarray(0, first)]));
    if (first < lines.length) {
      this.#params.emit(prefixLines(lines.subarray(first), prefix(source, wallMs)));
    }
  }

  #hold(source: SourceId, rest: Uint8Array, wallMs: number): void {
    // A copy, so that a short rest does not retain a whole chunk.
    const piece = new Uint8Array(rest);
    const held = entryOf(this.#held, source, () => ({ pieces: [], bytes: 0, wallMs }));
    held.pieces.push(piece);
    held.bytes += piece.length;
    this.#heldBytes += piece.length;
    if (held.bytes > this.#params.lineBytesMax || this.#heldBytes > this.#params.heldBytesMax) this.#showHeld(source);
  }

  #take(source: SourceId): Held {
    const held = this.#held.get(source) as Held;
    this.#held.delete(source);
    this.#heldBytes -= held.bytes;
    return held;
  }

  /** Shows the unfinished line and leaves it open. */
  #showHeld(source: SourceId): void {
    if (this.#open !== undefined) this.#closeOpen();
    const held = this.#take(source);
    const prefix = this.#params.prefix;
    const pieces = prefix === undefined ? held.pieces : [prefix(source, held.wallMs), ...held.pieces];
    this.#params.emit(joinBytes(pieces));
    this.#open = source;
  }

  #closeOpen(): void {
    this.#params.emit(NEWLINE_BYTES);
    this.#open = undefined;
  }
}
