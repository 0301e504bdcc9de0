/**
 * Output queue of a session agent: what its tools have written waits here for credit, in order. A chunk is cut where
 * the credit ends, so that what is under way to the front-end never exceeds this host's share of the window; what is
 * left stays on this host, where reading of its tools has stopped.
 */

import { holdBuffer, releaseBuffer } from '@stci/interface';
import { CHUNK_COST_BYTES } from '../am/credit.js';
import { encodeWithTail } from '../codec/cbor.js';

/** The part of a stream's endpoint that is needed here. */
export interface OutputStream {
  readonly upCreditBytes: number;
  upPieces(pieces: readonly Uint8Array[]): boolean;
}

interface Entry {
  /** Rank, stream, time. */
  readonly head: readonly number[];
  /** Empty: the end of this output. */
  readonly chunk: Uint8Array;
}

export class OutputQueue {
  readonly #stream: OutputStream;
  #waiting: Entry[] = [];

  constructor(stream: OutputStream) {
    this.#stream = stream;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether more may be read. */
  get isOpen(): boolean {
    return this.isEmpty && this.#room > 0;
  }

  /** Returns false if reading should stop until `resume` returns true. */
  push(head: readonly number[], chunk: Uint8Array): boolean {
    this.#waiting.push({ head, chunk });
    holdBuffer(chunk);
    if (this.#waiting.length === 1) this.resume();
    return this.isOpen;
  }

  /** Sends what there is credit for. Returns true if nothing is left and more may be read. */
  resume(): boolean {
    let sent = 0;
    for (const { head, chunk } of this.#waiting) {
      const room = this.#room;
      if (room <= 0) break;
      this.#stream.upPieces(encodeWithTail(head, chunk.length <= room ? chunk : chunk.subarray(0, room)));
      if (chunk.length > room) {
        this.#waiting[sent] = { head, chunk: chunk.subarray(room) };
        break;
      }
      releaseBuffer(chunk);
      sent += 1;
    }
    this.#waiting.splice(0, sent);
    return this.isOpen;
  }

  clear(): void {
    for (const { chunk } of this.#waiting) releaseBuffer(chunk);
    this.#waiting = [];
  }

  get #room(): number {
    return this.#stream.upCreditBytes - CHUNK_COST_BYTES;
  }
}
