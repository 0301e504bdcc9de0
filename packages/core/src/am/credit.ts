/**
 * Credit: end-to-end flow control in bytes. The receiver grants a window; the sender spends it and stops at zero;
 * the receiver gives back what was consumed, half a window at a time, so that a grant costs little. What one sender
 * has under way never exceeds the window by more than one chunk.
 */

export class SendCredit {
  #leftBytes: number;

  constructor(windowBytes: number) {
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

  /** Returns true if this ended a stop. */
  grant(bytes: number): boolean {
    const wasOut = !this.available;
    this.#leftBytes += bytes;
    return wasOut && this.available;
  }
}

export class ReceiveCredit {
  readonly #windowBytes: number;
  #consumedBytes = 0;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  /** Returns the bytes to grant now; 0: not worth a message yet. */
  consume(bytes: number): number {
    this.#consumedBytes += bytes;
    if (this.#consumedBytes * 2 < this.#windowBytes) return 0;
    const grant = this.#consumedBytes;
    this.#consumedBytes = 0;
    return grant;
  }
}
