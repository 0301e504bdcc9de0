/**
 * Standard input of one host's tools: chunks from the front-end, written to each tool that reads input. A chunk's
 * credit is released when the slowest reader has room again: a tool that does not read stops the front-end, and queues
 * stay bounded. Chunks wait here, once for all tools, and a tool that has room again gets them joined: as many small
 * ones as the credit is for would otherwise cost a hundred times their bytes, for each tool. An empty chunk ends the
 * input.
 */

import { joinBytes } from '@stci/interface';
import type { Tool } from './tool.js';

/** Chunks are joined up to this, which is more than a pipe takes at once. */
const JOINED_BYTES_MAX = 64 * 1024;

interface Chunk {
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/** How far a tool is, as numbers of chunks. */
interface Reader {
  /** Those before it are written. */
  written: number;
  /** Those before it are written, and it had room afterwards. */
  done: number;
  isFull: boolean;
  isClosed: boolean;
}

export class StdinFeed {
  readonly #readers = new Map<Tool, Reader>();
  /** Those that the slowest reader has had no room for; the number of the first. */
  readonly #chunks: Chunk[] = [];
  #first = 0;
  readonly #onUnread: () => void;
  #ended = false;

  /** `onUnread`: no tool of this host reads input any longer. */
  constructor(onUnread: () => void) {
    this.#onUnread = onUnread;
  }

  /** Adds a tool that will read input, before its start. */
  add(tool: Tool): void {
    this.#readers.set(tool, { written: this.#end, done: this.#end, isFull: false, isClosed: false });
  }

  /** Removes a tool that reads none any longer. */
  remove(tool: Tool): void {
    if (!this.#readers.delete(tool)) return;
    this.#release();
    if (this.#readers.size === 0) this.#onUnread();
  }

  /** The tool's rank goes on elsewhere: that nobody reads here is no news. */
  forget(tool: Tool): void {
    if (this.#readers.delete(tool)) this.#release();
  }

  push(bytes: Uint8Array, release: () => void): void {
    if (bytes.length > 0) this.#chunks.push({ bytes, release });
    else this.#ended = true;
    for (const [tool, reader] of this.#readers) this.#write(tool, reader);
    this.#release();
    if (bytes.length === 0) release();
  }

  /** The tool's process has started. */
  onStarted(tool: Tool): void {
    this.#goOn(tool);
  }

  onDrain(tool: Tool): void {
    this.#goOn(tool);
  }

  #goOn(tool: Tool): void {
    const reader = this.#readers.get(tool);
    if (reader === undefined) return;
    reader.isFull = false;
    reader.done = reader.written;
    this.#write(tool, reader);
    this.#release();
  }

  get #end(): number {
    return this.#first + this.#chunks.length;
  }

  /** What waits for a tool, as long as it has room; then the end. */
  #write(tool: Tool, reader: Reader): void {
    if (tool.pid === 0) return;
    while (!reader.isFull && reader.written < this.#end) {
      const pieces = this.#piecesFrom(reader.written);
      reader.written += pieces.length;
      reader.isFull = !tool.writeStdin(pieces.length === 1 ? pieces[0] as Uint8Array : joinBytes(pieces));
      if (!reader.isFull) reader.done = reader.written;
    }
    if (!this.#ended || reader.isClosed || reader.written < this.#end) return;
    reader.isClosed = true;
    tool.closeStdin();
  }

  #piecesFrom(number: number): readonly Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for (let at = number - this.#first; at < this.#chunks.length; at += 1) {
      const piece = (this.#chunks[at] as Chunk).bytes;
      bytes += piece.length;
      if (bytes > JOINED_BYTES_MAX && pieces.length > 0) break;
      pieces.push(piece);
    }
    return pieces;
  }

  /** Those that all readers are done with. */
  #release(): void {
    let done = this.#end;
    for (const reader of this.#readers.values()) done = Math.min(done, reader.done);
    if (done === this.#first) return;
    const released = this.#chunks.splice(0, done - this.#first);
    this.#first = done;
    for (const { release } of released) release();
  }
}
