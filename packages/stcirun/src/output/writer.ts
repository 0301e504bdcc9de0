/**
 * Writes bytes to a descriptor in order, many pieces at once, one write under way at a time. `after` tells when all
 * that was taken so far is with the system: credit is given back there, so that memory stays bounded by what may be
 * unwritten. After an error everything is dropped, still in order, so that nobody waits for ever.
 *
 * Files are written by the thread pool. Pipes and terminals are not: a write that blocks there could not be
 * abandoned when the program ends, so they go through Node's own non-blocking streams.
 */

import * as fs from 'node:fs';

/** Writes the batch whole, then calls `done`, never from inside the call. */
export type WriteBatch = (batch: readonly Uint8Array[], done: (error?: Error | null) => void) => void;

/** Pieces and bytes of one batch; the system takes at most 1024 pieces. */
const BATCH_PIECES_MAX = 512;
const BATCH_BYTES_MAX = 4 << 20;

interface Mark {
  readonly atBytes: number;
  readonly done: () => void;
}

export class Writer {
  readonly #writeBatch: WriteBatch;
  readonly #onFault: (error: Error) => void;
  #queue: Uint8Array[] = [];
  #marks: Mark[] = [];
  #acceptedBytes = 0;
  #writtenBytes = 0;
  #busy = false;
  #broken = false;

  constructor(writeBatch: WriteBatch, onFault: (error: Error) => void) {
    this.#writeBatch = writeBatch;
    this.#onFault = onFault;
  }

  /** Bytes taken and not yet with the system. */
  get queuedBytes(): number {
    return this.#acceptedBytes - this.#writtenBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#broken || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#acceptedBytes += bytes.length;
    if (!this.#busy) this.#pump();
  }

  /** Calls `done` once all that was written so far has gone, at once if nothing is left. */
  after(done: () => void): void {
    if (this.queuedBytes === 0) done();
    else this.#marks.push({ atBytes: this.#acceptedBytes, done });
  }

  /** Drops what is unwritten and all that comes: nobody waits any more for a reader that does not read. */
  abandon(): void {
    this.#broken = true;
    this.#queue = [];
    this.#progress(this.queuedBytes);
  }

  #pump(): void {
    const batch = this.#nextBatch();
    let bytes = 0;
    for (const piece of batch) bytes += piece.length;
    this.#busy = true;
    this.#writeBatch(batch, (error) => {
      this.#busy = false;
      if (this.#broken) return;
      if (error) this.#fail(error);
      else this.#progress(bytes);
    });
  }

  #nextBatch(): readonly Uint8Array[] {
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && count < BATCH_PIECES_MAX && bytes < BATCH_BYTES_MAX) {
      bytes += (this.#queue[count] as Uint8Array).length;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  #progress(bytes: number): void {
    this.#writtenBytes += bytes;
    while (this.#marks.length > 0 && (this.#marks[0] as Mark).atBytes <= this.#writtenBytes) {
      (this.#marks.shift() as Mark).done();
    }
    if (!this.#busy && this.#queue.length > 0) this.#pump();
  }

  #fail(error: Error): void {
    this.#broken = true;
    this.#onFault(error);
    this.abandon();
  }
}

/** For regular files and devices. */
export function fileBatches(fd: number): WriteBatch {
  const writeRest = (pieces: readonly Uint8Array[], done: (error?: Error | null) => void): void => {
    fs.writev(fd, pieces, null, (error, written) => {
      if (error !== null) return done(error);
      const rest = skip(pieces, written);
      return rest.length === 0 ? done() : writeRest(rest, done);
    });
  };
  return writeRest;
}

/** What is left of the pieces after `bytes` of them. */
function skip(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let toSkip = bytes;
  for (const piece of pieces) {
    if (toSkip < piece.length) rest.push(toSkip === 0 ? piece : piece.subarray(toSkip));
    toSkip = Math.max(0, toSkip - piece.length);
  }
  return rest;
}

/** For pipes, sockets and terminals. The stream's errors come through the callback alone. */
export function streamBatches(stream: NodeJS.WritableStream & { cork(): void; uncork(): void }): WriteBatch {
  stream.on('error', () => undefined);
  return (batch, done) => {
    stream.cork();
    batch.forEach((piece, i) => stream.write(piece, i === batch.length - 1 ? (error) => done(error) : undefined));
    stream.uncork();
  };
}
