/**
 * Window: flow control in bytes between a sender and a receiver. The receiver grants a window; the sender spends it,
 * and stops where it has too little left; the receiver grants again what it has consumed, half a window at a time, to
 * save messages. Pure.
 */

import { StciError } from '@stci/interface';

export class SendWindow {
  readonly #windowBytes: number;
  readonly #leastBytes: number;
  #leftBytes: number;

  /** `leastBytes`: so much, or less, counts as nothing. */
  constructor(windowBytes: number, leastBytes = 0) {
    this.#windowBytes = windowBytes;
    this.#leastBytes = leastBytes;
    this.#leftBytes = windowBytes;
  }

  /** Negative if more was sent than granted. */
  get leftBytes(): number {
    return this.#leftBytes;
  }

  /** Bytes that are to be granted again. */
  get spentBytes(): number {
    return this.#windowBytes - this.#leftBytes;
  }

  get available(): boolean {
    return this.#leftBytes > this.#leastBytes;
  }

  fits(bytes: number): boolean {
    return bytes <= this.#leftBytes;
  }

  /** Returns whether more may be sent after this. */
  spend(bytes: number): boolean {
    this.#leftBytes -= bytes;
    return this.available;
  }

  /** Returns true if this ends a stop. Throws STCI_STREAM_CREDIT if more is granted than was spent. */
  grant(bytes: number): boolean {
    if (bytes > this.spentBytes) {
      throw new StciError('STCI_STREAM_CREDIT', `Expected credit for what was sent, got ${bytes} bytes more`);
    }
    const wasOut = !this.available;
    this.#leftBytes += bytes;
    return wasOut && this.available;
  }
}

export class ReceiveWindow {
  readonly #windowBytes: number;
  readonly #overdraftBytes: number;
  #heldBytes = 0;
  #consumedBytes = 0;

  /** `overdraftBytes`: what may come beyond the window. */
  constructor(windowBytes: number, overdraftBytes: number) {
    this.#windowBytes = windowBytes;
    this.#overdraftBytes = overdraftBytes;
  }

  /** Counts received bytes. Throws STCI_STREAM_CREDIT if the sender exceeds its window and the overdraft. */
  receive(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes <= this.#windowBytes + this.#overdraftBytes) return;
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
