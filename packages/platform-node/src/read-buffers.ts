/**
 * Memory that is read into. A fresh buffer for each read costs its allocation, its page faults and the collection of
 * garbage that many buffers cause, together more than the copy of its bytes.
 */

import { markRoom, ROOM_BYTES } from '@stci/interface';

/** Longest read of a pipe; a pipe of Linux holds as much. */
const PIPE_BYTES = 64 * 1024;

/** Chunks of a pipe of at least this length are passed on without a copy. */
const PIPE_COPY_BYTES = 16 * 1024;

/** Buffers that wait to be used again: as many as one window of output keeps under way. */
const FREE_MAX = 64;

const free: Buffer[] = [];

/** Buffers whose bytes are with their receiver. */
const lent = new WeakMap<ArrayBufferLike, Buffer>();

/** What one pipe is read into. */
export class PipeBuffer {
  #buffer = newPipeBuffer();

  get next(): Buffer {
    return this.#buffer;
  }

  /** The first `bytes`, which are the receiver's from now on. */
  take(bytes: number): Uint8Array {
    const chunk = this.#buffer.subarray(0, bytes);
    if (bytes < PIPE_COPY_BYTES) return Buffer.from(chunk);
    markRoom(chunk);
    lent.set(chunk.buffer, this.#buffer);
    this.#buffer = free.pop() ?? newPipeBuffer();
    return chunk;
  }
}

/** These have been written to the system, and nobody else has them: their memory is read into again. */
export function reuse(chunks: readonly Uint8Array[]): void {
  for (const { buffer } of chunks) {
    const returned = lent.get(buffer);
    if (returned === undefined) continue;
    lent.delete(buffer);
    if (free.length < FREE_MAX) free.push(returned);
  }
}

/** With room in front (see markRoom). */
function newPipeBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(ROOM_BYTES + PIPE_BYTES).subarray(ROOM_BYTES);
}

/** Long reads of a channel lie one behind the other in this much memory. */
const CHANNEL_BYTES = 512 * 1024;

/** A read has room for at least this. */
const CHANNEL_READ_BYTES = 64 * 1024;

/** Shorter reads are copied, so that they do not keep all the rest. */
const CHANNEL_COPY_BYTES = 4 * 1024;

/** What one channel is read into. A frame that comes in several long reads is in one piece of memory all the same. */
export class ChannelBuffer {
  #buffer = Buffer.allocUnsafeSlow(CHANNEL_BYTES);

  get next(): Buffer {
    return this.#buffer;
  }

  /** The first `bytes`, which are the receiver's from now on. */
  take(bytes: number): Uint8Array {
    const chunk = this.#buffer.subarray(0, bytes);
    if (bytes < CHANNEL_COPY_BYTES) return Buffer.from(chunk);
    const rest = this.#buffer.subarray(bytes);
    this.#buffer = rest.length < CHANNEL_READ_BYTES ? Buffer.allocUnsafeSlow(CHANNEL_BYTES) : rest;
    return chunk;
  }
}
