/**
 * Standard input of one host's ranks: chunks from the front-end, written to each tool that reads input. A chunk's
 * credit is released when the slowest reader has room again: a tool that does not read stops the front-end, and queues
 * stay bounded. Chunks wait here, once for all tools, and a tool that has room again gets them joined: as many small
 * ones as the credit is for would otherwise cost a hundred times their bytes, for each tool. An empty chunk ends the
 * input.
 */

import { joinBytes, type Rank } from '@stci/interface';
import type { Tool } from './tool.js';

/** Chunks are joined up to this, which is more than a pipe takes at once. */
const JOINED_BYTES_MAX = 64 * 1024;

interface Chunk {
  readonly bytes: Uint8Array;
  readonly release: () => void;
}

/** How far a rank is, as numbers of chunks. */
interface Reader {
  /** Undefined: its process has not started. */
  tool: Tool | undefined;
  /** Those before it are written. */
  written: number;
  /** Those before it are written, and it had room afterwards. */
  done: number;
  isFull: boolean;
  isClosed: boolean;
}

export class StdinFeed {
  readonly #readers = new Map<Rank, Reader>();
  /** Those that the slowest reader has had no room for; the number of the first. */
  readonly #chunks: Chunk[] = [];
  #first = 0;
  readonly #onUnread: () => void;
  #ended = false;

  /** `onUnread`: no tool of this host reads input any longer. */
  constructor(onUnread: () => void) {
    this.#onUnread = onUnread;
  }

  /** The next process of a rank will read what comes from now on. */
  add(rank: Rank): void {
    const [written, done] = [this.#end, this.#end];
    this.#readers.set(rank, { tool: undefined, written, done, isFull: false, isClosed: false });
    this.#release();
  }

  /** Removes a rank that reads none any longer. */
  remove(rank: Rank): void {
    if (!this.#readers.has(rank)) return;
    this.forget(rank);
    if (this.#readers.size === 0) this.#onUnread();
  }

  /** The rank goes on elsewhere: that nobody reads here is no news. */
  forget(rank: Rank): void {
    this.#readers.delete(rank);
    this.#release();
  }

  push(bytes: Uint8Array, release: () => void): void {
    if (bytes.length > 0) this.#chunks.push({ bytes, release });
    else this.#ended = true;
    for (const reader of this.#readers.values()) this.#write(reader);
    this.#release();
    if (bytes.length === 0) release();
  }

  /** The tool's process has started. */
  onStarted(tool: Tool): void {
    const reader = this.#readers.get(tool.rank);
    if (reader === undefined) return;
    reader.tool = tool;
    this.onDrain(tool);
  }

  onDrain(tool: Tool): void {
    const reader = this.#readers.get(tool.rank);
    if (reader?.tool !== tool) return;
    reader.isFull = false;
    reader.done = reader.written;
    this.#write(reader);
    this.#release();
  }

  get #end(): number {
    return this.#first + this.#chunks.length;
  }

  /** What waits for a tool, as long as it has room; then the end. */
  #write(reader: Reader): void {
    const { tool } = reader;
    if (tool === undefined) return;
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
