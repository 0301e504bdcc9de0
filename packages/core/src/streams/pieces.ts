/**
 * Reduction by concatenation (STCI paper, II-E.2c): contributions of several agents, each with who it is from, in
 * pieces that are bounded. Pure.
 */

import { encode } from '../codec/cbor.js';

/** Bytes of a piece; it has at most as many items, and far fewer than an agent may send. */
const PIECE_BYTES_MAX = 512 * 1024;

export class Pieces<Contribution> {
  readonly #oneBytesMax: number;
  readonly #bytesMax: number;
  readonly #send: (piece: readonly Contribution[]) => void;
  #piece: Contribution[] = [];
  #bytes = 0;

  /** `send` gets each piece that is full. */
  constructor(messageBytesMax: number, send: (piece: readonly Contribution[]) => void) {
    this.#oneBytesMax = Math.floor(messageBytesMax / 2);
    this.#bytesMax = Math.min(PIECE_BYTES_MAX, this.#oneBytesMax);
    this.#send = send;
  }

  /** What is too long for a message is left out: its agent is silent then. */
  add(contributions: readonly Contribution[]): void {
    for (const each of contributions) {
      const bytes = encode(each).length;
      if (bytes > this.#oneBytesMax) continue;
      if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) this.#send(this.take());
      this.#piece.push(each);
      this.#bytes += bytes;
    }
  }

  /** The last piece. */
  take(): readonly Contribution[] {
    this.#bytes = 0;
    return this.#piece.splice(0);
  }
}
