/**
 * Credit: end-to-end flow control in bytes. The receiver grants a window; the sender spends it and stops at zero; the
 * receiver grants what it has consumed again, half a window at a time, to save messages. The bytes of one sender in
 * flight exceed the window by at most one chunk.
 */

import { StciError } from '@stci/interface';
import { HEADER_BYTES } from '../codec/frame.js';

/** Largest window of one session agent, and the smallest with which output makes progress. */
export const CREDIT_BYTES_MAX = 4 * 1024 * 1024;
export const CREDIT_BYTES_MIN = 512;

/** Bytes a sender may have in flight beyond its window: chunks that were on their way to it when it was stopped. */
const OVERDRAFT_BYTES_MAX = 16 * 1024 * 1024;

/** Credit for a chunk of output beside its bytes: the header of its frame, and at most 28 bytes of CBOR. */
export const CHUNK_COST_BYTES = HEADER_BYTES + 28;

export class SendCredit {
  readonly #windowBytes: number;
  #leftBytes: number;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
    this.#leftBytes = windowBytes;
  }

  /** Negative if more was sent than granted. */
  get leftBytes(): number {
    return this.#leftBytes;
  }

  /** Whether there is credit for some bytes of output: less than that is none. */
  get available(): boolean {
    return this.#leftBytes > CHUNK_COST_BYTES;
  }

  /** Returns whether more may be sent after this. */
  spend(bytes: number): boolean {
    this.#leftBytes -= bytes;
    return this.available;
  }

  /** Returns true if this ends a stop. Throws STCI_STREAM_CREDIT if more is granted than was spent. */
  grant(bytes: number): boolean {
    if (this.#leftBytes + bytes > this.#windowBytes) {
      throw new StciError('STCI_STREAM_CREDIT', `Expected credit for what was sent, got ${bytes} bytes more`);
    }
    const wasOut = !this.available;
    this.#leftBytes += bytes;
    return wasOut && this.available;
  }
}

export class ReceiveCredit {
  readonly #windowBytes: number;
  #heldBytes = 0;
  #consumedBytes = 0;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** Counts received bytes. Throws STCI_STREAM_CREDIT if the sender exceeds its credit. */
  receive(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes <= this.#windowBytes + OVERDRAFT_BYTES_MAX) return;
    throw new StciError('STCI_STREAM_CREDIT', `Expected ${this.#windowBytes} bytes at once, got ${this.#heldBytes}`);
  }

  /** Returns the bytes to grant now; 0 if there are too few for a message. */
  consume(bytes: number): number {
    this.#heldBytes -= bytes;
    this.#consumedBytes += bytes;
    if (this.#consumedBytes * 2 < this.#windowBytes) return 0;
    const grant = this.#consumedBytes;
    this.#consumedBytes = 0;
    return grant;
  }
}
