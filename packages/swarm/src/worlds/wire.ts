/**
 * Checks every byte between agents with a parser of its own: each connection is a sequence of frames, of the right
 * version and of bounded length by their headers, and nothing follows a goodbye.
 */

import type { Flow } from '@stci/platform-sim';

const HEADER_BYTES = 36;
const VERSION = 1;
const LAYER_LINK = 0;
const LAYER_MESSAGE = 2;
const LAYER_MAX = 3;
/** Link frame that ends a link as wanted. */
const GOODBYE = 4;
/** A boot record names all hosts and parameters; nothing else is longer. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const PROBLEMS_MAX = 20;
/** No frame begins with one of these: a simulated bundle is made of the one, an answer begins with the other. */
const BUNDLE_BYTE = 0x2a;
const LINE_BYTE = 0x53;
const NEWLINE = 0x0a;
/** The connection of a program to its session agent begins with it: it has no frames. */
const PROGRAM_BYTE = 0x7b;

export class Wire {
  readonly problems: string[] = [];
  frames = 0;
  /** Messages and acknowledgements: neither output nor keepalives. */
  control = 0;
  goodbyes = 0;
  /** Frames of messages by their type, over each link that they take. */
  readonly types = new Map<number, number>();

  watch(flow: Flow): void {
    if (flow.use !== 'channel') return;
    const reader = new FrameReader(this);
    flow.onPiece = (chunk) => reader.read(chunk);
  }

  report(problem: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(problem);
  }
}

class FrameReader {
  readonly #wire: Wire;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerBytes = 0;
  #bodyBytesLeft = 0;
  #isOver = false;
  #isPrelude = true;
  #line = '';
  #isBroken = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  read(chunk: Uint8Array): void {
    if (this.#isPrelude && this.#line === '' && chunk[0] === PROGRAM_BYTE) this.#isBroken = true;
    let offset = this.#isPrelude ? this.#skipPrelude(chunk) : 0;
    while (offset < chunk.length && !this.#isBroken) {
      if (this.#bodyBytesLeft > 0) {
        const bytes = Math.min(this.#bodyBytesLeft, chunk.length - offset);
        this.#bodyBytesLeft -= bytes;
        offset += bytes;
      } else if (this.#isOver) {
        return this.#fail(`${chunk.length - offset} bytes after a goodbye`);
      } else {
        this.#header[this.#headerBytes++] = chunk[offset++] as number;
        if (this.#headerBytes === HEADER_BYTES) this.#onHeader();
      }
    }
  }

  /** What an ssh carries before the agent speaks: answers in lines, the last of them `have` or `run`; the bundle. */
  #skipPrelude(chunk: Uint8Array): number {
    let offset = 0;
    for (; offset < chunk.length; offset++) {
      const byte = chunk[offset] as number;
      if (byte === BUNDLE_BYTE && this.#line === '') continue;
      this.#isPrelude = this.#line !== '' || byte === LINE_BYTE;
      if (!this.#isPrelude) return offset;
      this.#line += String.fromCharCode(byte);
      if (byte !== NEWLINE) continue;
      this.#isPrelude = !/ (have|run)\n$/.test(this.#line);
      this.#line = '';
      if (!this.#isPrelude) return offset + 1;
    }
    return offset;
  }

  #onHeader(): void {
    const view = new DataView(this.#header.buffer);
    this.#headerBytes = 0;
    this.#bodyBytesLeft = view.getUint32(24);
    this.#wire.frames++;
    const [version, layer] = this.#header;
    if (version !== VERSION) return this.#fail(`a frame of version ${version}`);
    if (layer === undefined || layer > LAYER_MAX) return this.#fail(`a frame of layer ${layer}`);
    if (this.#bodyBytesLeft > BODY_BYTES_MAX) return this.#fail(`a frame of ${this.#bodyBytesLeft} bytes`);
    if (layer !== LAYER_LINK && layer <= LAYER_MESSAGE) this.#wire.control++;
    if (layer === LAYER_MESSAGE) {
      const { types } = this.#wire;
      types.set(view.getUint16(2), 1 + (types.get(view.getUint16(2)) ?? 0));
    }
    if (layer !== LAYER_LINK || view.getUint16(2) !== GOODBYE) return undefined;
    this.#wire.goodbyes++;
    this.#isOver = true;
    return undefined;
  }

  #fail(problem: string): void {
    this.#isBroken = true;
    this.#wire.report(problem);
  }
}
