/**
 * Bytes that came and are not used yet, in one buffer that grows with what came: never by a length that a peer claims.
 */

const CAPACITY_MIN = 256;

export class ByteQueue {
  #buffer: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  append(chunk: Uint8Array): void {
    const needed = this.length + chunk.length;
    if (this.#end + chunk.length > this.#buffer.length) {
      const isRoomy = needed <= this.#buffer.length / 2;
      const next = isRoomy ? this.#buffer : new Uint8Array(Math.max(CAPACITY_MIN, needed * 2));
      next.set(this.#buffer.subarray(this.#start, this.#end));
      [this.#buffer, this.#start, this.#end] = [next, 0, this.length];
    }
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The first `length` bytes, or all if there are fewer: a view until the next call of another method. */
  peek(length = this.length): Uint8Array {
    return this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + length));
  }

  /** A copy of the first bytes, which are removed. */
  take(length: number): Uint8Array {
    const taken = this.peek(length).slice();
    this.skip(length);
    return taken;
  }

  skip(length: number): void {
    this.#start = Math.min(this.#end, this.#start + length);
    if (this.#start < this.#end) return;
    [this.#start, this.#end] = [0, 0];
    if (this.#buffer.length > 2 * CAPACITY_MIN) this.#buffer = new Uint8Array(0);
  }
}
