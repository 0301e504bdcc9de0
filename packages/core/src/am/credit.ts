/**
 * Credit: end-to-end flow control in bytes. The receiver grants a window; the sender spends it and stops at zero;
 * the receiver gives back what was consumed, half a window at a time, so that a grant costs little. What one sender
 * has under way never exceeds the window by more than one chunk.
 */

import { StciError } from '@stci/interface';

/** What a sender may have under way beyond its window: chunks that were on their way to it when it was stopped. */
const OVERDRAFT_BYTES_MAX = 16 * 1024 * 1024;

export class SendCredit {
  readonly #windowBytes: number;
  #leftBytes: number;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
    this.#leftBytes = windowBytes;
  }

  get available(): boolean {
    return this.#leftBytes > 0;
  }

  /** Returns whether more may be sent after this. */
  spend(bytes: number): boolean {
    this.#leftBytes -= bytes;
    return this.available;
  }

  /** Returns true if this ended a stop. Throws STCI_STREAM_CREDIT where more comes back than was spent. */
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

  /** Something has arrived. Throws STCI_STREAM_CREDIT where the sender does not mind its credit. */
  receive(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes <= this.#windowBytes + OVERDRAFT_BYTES_MAX) return;
    throw new StciError('STCI_STREAM_CREDIT', `Expected ${this.#windowBytes} bytes at once, got ${this.#heldBytes}`);
  }

  /** Returns the bytes to grant now; 0: not worth a message yet. */
  consume(bytes: number): number {
    this.#heldBytes -= bytes;
    this.#consumedBytes += bytes;
    if (this.#consumedBytes * 2 < this.#windowBytes) return 0;
    const grant = this.#consumedBytes;
    this.#consumedBytes = 0;
    return grant;
  }
}
