/**
 * Frame decoder: chunks of bytes in, whole frames out, independent of chunk borders. A frame that lies within one chunk
 * is passed as a view of it, without a copy. The first error ends the decoder: the borders of the frames are not known
 * after it.
 */

import { JOB_MAX, StciError } from '@stci/interface';
import { FRAME_VERSION, HEADER_BYTES, LAYER, type Frame, readU32 } from './frame.js';

export class FrameDecoder {
  /** Largest body accepted, in bytes. */
  bodyBytesMax: number;
  readonly #onFrame: (frame: Frame) => void;
  /** The frame being assembled; its length is known once its header is complete. */
  #partial: Uint8Array | undefined;
  #partialFilled = 0;
  /** The beginning of a frame at the end of the last chunk: the next chunk may directly follow it in memory. */
  #begun: Uint8Array | undefined;
  #stopped = false;
  #failure: unknown;
  /** What followed the frame whose handler called `stop`. */
  #rest: Uint8Array | undefined;

  constructor(bodyBytesMax: number, onFrame: (frame: Frame) => void) {
    this.bodyBytesMax = bodyBytesMax;
    this.#onFrame = onFrame;
  }

  /** True inside a frame: an end of file now would truncate it. */
  get midFrame(): boolean {
    return this.#begun !== undefined || this.#partialFilled > 0;
  }

  /** Ends decoding after the current frame; the bytes after it are kept for `takeRest`. */
  stop(): void {
    this.#stopped = true;
  }

  takeRest(): Uint8Array | undefined {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest;
  }

  /** Throws StciError STCI_FRAME_VERSION, _INVALID or _LENGTH, and again on every later call. */
  push(chunk: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#decode(this.#continued(plainBytes(chunk)));
    } catch (fault) {
      this.#failure = fault;
      throw fault;
    }
  }

  /** `chunk` with the beginning of its first frame in front if both lie in one buffer; else that is copied. */
  #continued(chunk: Uint8Array): Uint8Array {
    const begun = this.#begun;
    if (begun === undefined || chunk.length === 0) return chunk;
    this.#begun = undefined;
    if (begun.buffer === chunk.buffer && begun.byteOffset + begun.length === chunk.byteOffset) {
      return new Uint8Array(begun.buffer, begun.byteOffset, begun.length + chunk.length);
    }
    this.#partial = new Uint8Array(begun.length < HEADER_BYTES ? HEADER_BYTES : this.#checkedLength(begun, 0));
    this.#copy(begun, 0, begun.length);
    return chunk;
  }

  #decode(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && !this.#stopped) {
      if (this.#partialFilled > 0) at += this.#fill(chunk, at);
      else at += this.#whole(chunk, at);
    }
    if (at < chunk.length) this.#rest = chunk.subarray(at);
  }

  /** Passes on the frame at `at` if it is whole, else begins a partial one. Returns the bytes used. */
  #whole(chunk: Uint8Array, at: number): number {
    const left = chunk.length - at;
    if (left < HEADER_BYTES) {
      checkVersion(chunk, at);
      this.#begun = chunk.subarray(at);
      return left;
    }
    const length = this.#checkedLength(chunk, at);
    if (left >= length) {
      this.#onFrame(chunk.subarray(at, at + length));
      return length;
    }
    this.#begun = chunk.subarray(at);
    return left;
  }

  #fill(chunk: Uint8Array, at: number): number {
    const partial = this.#partial as Uint8Array;
    const used = this.#copy(chunk, at, Math.min(chunk.length - at, partial.length - this.#partialFilled));
    if (this.#partialFilled < partial.length) return used;
    if (partial.length === HEADER_BYTES) {
      const length = this.#checkedLength(partial, 0);
      if (length > HEADER_BYTES) {
        this.#partial = new Uint8Array(length);
        this.#partial.set(partial);
        return used;
      }
    }
    this.#partial = undefined;
    this.#partialFilled = 0;
    this.#onFrame(partial);
    return used;
  }

  #copy(chunk: Uint8Array, at: number, count: number): number {
    (this.#partial as Uint8Array).set(chunk.subarray(at, at + count), this.#partialFilled);
    this.#partialFilled += count;
    return count;
  }

  #checkedLength(bytes: Uint8Array, at: number): number {
    checkVersion(bytes, at);
    const layer = bytes[at + 1] as number;
    if (layer > LAYER.stream) {
      throw new StciError('STCI_FRAME_INVALID', `Expected a frame of layer 0 to ${LAYER.stream}, got layer ${layer}`);
    }
    const job = readU32(bytes, at + 16);
    if (job > JOB_MAX) throw new StciError('STCI_FRAME_INVALID', `Expected a job in 0..${JOB_MAX}, got ${job}`);
    const body = readU32(bytes, at + 24);
    if (body > this.bodyBytesMax) {
      throw new StciError(
        'STCI_FRAME_LENGTH',
        `Expected a frame body of at most ${this.bodyBytesMax} bytes, its header says ${body}`,
      );
    }
    return HEADER_BYTES + body;
  }
}

/** `slice` of the same bytes as Node's Buffer would be no copy: what is kept of a frame would retain all that came. */
function plainBytes(chunk: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = chunk;
  return chunk.constructor === Uint8Array ? chunk : new Uint8Array(buffer, byteOffset, length);
}

/** Bytes that a message shows of what is no frame. */
const SHOWN_BYTES = 60;

function checkVersion(bytes: Uint8Array, at: number): void {
  const version = bytes[at] as number;
  if (version === FRAME_VERSION) return;
  const words = /^[\t\n\r -~]{4,}/u.exec(String.fromCharCode(...bytes.subarray(at, at + SHOWN_BYTES)))?.[0];
  const text = words === undefined ? '' : `; it says ${JSON.stringify(words.trim())}: a command around an agent must `
    + 'write nothing to standard output';
  throw new StciError('STCI_FRAME_VERSION', `Expected a frame of version ${FRAME_VERSION}, got ${version}: `
    + `the peer is no STCI agent, or one of another release${text}`);
}
