/**
 * Read buffers. A fresh buffer per read costs its allocation, page faults and garbage collection, together more than a
 * copy of its bytes.
 */

import { markRoom, ROOM_BYTES, whenReleased } from '@stci/interface';

/** Longest read of a pipe: its capacity on Linux. */
const PIPE_BYTES = 64 * 1024;

/** Chunks of a pipe of at least this length are passed on without a copy. */
const PIPE_COPY_BYTES = 16 * 1024;

/** Unused buffers that are kept: as many as one window of output has in flight. */
const FREE_MAX = 64;

const free: Buffer[] = [];

/** Buffers owned by the receivers of their bytes. */
const inUse = new WeakMap<ArrayBufferLike, Buffer>();

/** Buffer of one pipe. */
export class PipeBuffer {
  #buffer = newPipeBuffer();

  get next(): Buffer {
    return this.#buffer;
  }

  /** Passes the first `bytes` to the receiver, who owns them. */
  take(bytes: number): Uint8Array {
    const chunk = this.#buffer.subarray(0, bytes);
    if (bytes < PIPE_COPY_BYTES) return Buffer.from(chunk);
    markRoom(chunk);
    inUse.set(chunk.buffer, this.#buffer);
    this.#buffer = free.pop() ?? newPipeBuffer();
    return chunk;
  }
}

/** Takes buffers back whose bytes have been written to the system, when none of them may be sent again. */
export function reuse(chunks: readonly Uint8Array[]): void {
  for (const { buffer } of chunks) {
    const returned = inUse.get(buffer);
    if (returned === undefined) continue;
    whenReleased(buffer, () => {
      inUse.delete(buffer);
      if (free.length < FREE_MAX) free.push(returned);
    });
  }
}

/** Buffer with room in front (see markRoom). */
function newPipeBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(ROOM_BYTES + PIPE_BYTES).subarray(ROOM_BYTES);
}

/** Consecutive long reads of a channel are adjacent in a buffer of this size. */
const CHANNEL_BYTES = 512 * 1024;

/** A read has at least this much space. */
const CHANNEL_READ_BYTES = 64 * 1024;

/** Shorter reads are copied, so that they do not retain the whole buffer. */
const CHANNEL_COPY_BYTES = 4 * 1024;

/** Buffer of one channel. A frame of several long reads is still contiguous. */
export class ChannelBuffer {
  #buffer = Buffer.allocUnsafeSlow(CHANNEL_BYTES);

  get next(): Buffer {
    return this.#buffer;
  }

  /** Passes the first `bytes` to the receiver, who owns them. */
  take(bytes: number): Uint8Array {
    const chunk = this.#buffer.subarray(0, bytes);
    if (bytes < CHANNEL_COPY_BYTES) return Buffer.from(chunk);
    const rest = this.#buffer.subarray(bytes);
    this.#buffer = rest.length < CHANNEL_READ_BYTES ? Buffer.allocUnsafeSlow(CHANNEL_BYTES) : rest;
    return chunk;
  }
}
