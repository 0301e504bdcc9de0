/**
 * Writes bytes to a descriptor in order, many pieces at once, one write under way at a time. `after` calls back
 * when everything taken so far is with the system. Credit is returned there, so memory stays bounded by the window.
 * After an error everything is dropped, still in order, so that no callback waits for ever.
 *
 * Files are written by the thread pool. Pipes and terminals are not: a process cannot end while a thread of its pool is
 * blocked, so they are written without blocking, on descriptions that stcirun opens itself (terminal.ts).
 */

import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { NEWLINE, NEWLINE_BYTES } from '@stci/core/iof';
import { fileWork } from '../process/leave.js';

const writev = promisify(fs.writev);

/** Writes the batch whole, then calls `done`, never from inside the call. */
export type WriteBatch = (batch: readonly Uint8Array[], done: (error?: Error | null) => void) => void;

/** Pieces and bytes of one batch; the system takes at most 1024 pieces. */
const BATCH_PIECES_MAX = 512;
const BATCH_BYTES_MAX = 4 << 20;

/** Bytes that are written at once; fewer wait for a turn that brings no more. */
const GATHERED_BYTES = 1 << 20;

interface Mark {
  readonly atBytes: number;
  readonly done: () => void;
}

export interface WriterOptions {
  /**
   * Where a message of our own comes while a line of a rank is unfinished: true ends the line (a terminal), false has
   * the message wait for the end of the line (a pipe or a file, whose lines are never cut).
   */
  readonly breaksLines?: boolean;
  /** Writes what has come by the end of a turn, not each piece as it comes: fewer and larger writes. */
  readonly gathers?: boolean;
  /** A fault that loses messages of our own alone is not reported; one that loses output of ranks is. */
  readonly losesMessages?: boolean;
}

export class Writer {
  readonly #writeBatch: WriteBatch;
  readonly #onFault: (error: Error) => void;
  #breaksLines: boolean;
  readonly #gathers: boolean;
  readonly #losesMessages: boolean;
  #isScheduled = false;
  #queue: Uint8Array[] = [];
  #marks: Mark[] = [];
  #acceptedBytes = 0;
  #writtenBytes = 0;
  #isBusy = false;
  /** Bytes of the write that is under way. */
  #busyBytes = 0;
  /** Where the output of ranks that was taken ends. */
  #outputEndBytes = 0;
  #broken: Error | undefined;
  #isReported = false;
  #abandoned = false;
  /** The last byte of output that was taken, and that was handed to the system, is not a newline. */
  #midLine = false;
  #handedMidLine = false;
  /** Messages that wait for the end of a line. */
  #held: Uint8Array[] = [];
  /** Which pieces of the queue are messages. */
  readonly #messages = new WeakSet<Uint8Array>();

  constructor(writeBatch: WriteBatch, onFault: (error: Error) => void, options: WriterOptions = {}) {
    this.#writeBatch = writeBatch;
    this.#onFault = onFault;
    this.#breaksLines = options.breaksLines === true;
    this.#gathers = options.gathers === true;
    this.#losesMessages = options.losesMessages === true;
  }

  /** Bytes taken and not yet with the system. */
  get queuedBytes(): number {
    return this.#acceptedBytes - this.#writtenBytes;
  }

  /** Output of ranks. */
  write(bytes: Uint8Array): void {
    if (this.#abandoned || bytes.length === 0) return;
    if (this.#broken !== undefined) return this.#report(this.#broken);
    let rest = bytes;
    if (this.#held.length > 0) {
      const end = bytes.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        this.#take(bytes.subarray(0, end));
        this.#takeHeld();
        rest = bytes.subarray(end);
      }
    }
    this.#take(rest);
    this.#outputEndBytes = this.#acceptedBytes;
    this.#midLine = bytes[bytes.length - 1] !== NEWLINE;
  }

  /** Whole lines of our own: never inside a line of a rank. */
  message(bytes: Uint8Array): void {
    if (this.#broken !== undefined) return;
    this.#held.push(bytes);
    if (this.#midLine && !this.#breaksLines) return;
    if (this.#midLine) this.#take(NEWLINE_BYTES);
    this.#midLine = false;
    this.#takeHeld();
  }

  /** Text that is drawn over and leaves the line as it was. */
  draw(bytes: Uint8Array): void {
    if (this.#broken === undefined) this.#take(bytes);
  }

  /** All output has come: messages wait no longer. */
  endOutput(): void {
    this.#breaksLines = true;
    const [first, ...more] = this.#held.splice(0);
    if (first !== undefined) this.message(first);
    for (const message of more) this.message(message);
  }

  /** Calls `done` once all output that was written so far has gone, at once if it is dropped. */
  after(done: () => void): void {
    if (this.#abandoned) done();
    else this.afterMessages(done);
  }

  /** The same for output and messages: those are not dropped. */
  afterMessages(done: () => void): void {
    if (this.queuedBytes === 0) done();
    else this.#marks.push({ atBytes: this.#acceptedBytes, done });
  }

  /** Drops the output that is unwritten and all that comes, for its reader does not read; messages still go out. */
  abandon(): void {
    this.#abandoned = true;
    const messages = [...this.#queue.filter((piece) => this.#messages.has(piece)), ...this.#held.splice(0)];
    const marks = this.#marks.splice(0);
    this.#drop();
    this.#midLine = this.#handedMidLine;
    this.#breaksLines = true;
    for (const message of messages) this.message(message);
    // Last: who waits for the messages finds them queued again.
    for (const { done } of marks) done();
  }

  #drop(): void {
    this.#queue = [];
    this.#busyBytes = 0;
    this.#progress(this.queuedBytes);
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#acceptedBytes += bytes.length;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isBusy || this.#queue.length === 0) return;
    if (!this.#gathers || this.queuedBytes >= GATHERED_BYTES) return this.#pump();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const acceptedBytes = this.#acceptedBytes;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#acceptedBytes > acceptedBytes) this.#schedule();
      else if (!this.#isBusy && this.#queue.length > 0) this.#pump();
    });
  }

  #takeHeld(): void {
    for (const message of this.#held.splice(0)) {
      this.#messages.add(message);
      this.#take(message);
    }
  }

  #pump(): void {
    const batch = this.#nextBatch();
    for (const piece of batch) this.#busyBytes += piece.length;
    this.#handedMidLine = batch.at(-1)?.at(-1) !== NEWLINE;
    this.#isBusy = true;
    this.#writeBatch(batch, (error) => {
      this.#isBusy = false;
      if (this.#broken !== undefined) return;
      const bytes = this.#busyBytes;
      this.#busyBytes = 0;
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
    this.#schedule();
  }

  #fail(error: Error): void {
    this.#broken = error;
    if (!this.#losesMessages || this.#outputEndBytes > this.#writtenBytes) this.#report(error);
    this.#drop();
  }

  #report(error: Error): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#onFault(error);
  }
}

/** Batches for regular files and devices. */
export function fileBatches(fd: number): WriteBatch {
  const writeAll = async (batch: readonly Uint8Array[]): Promise<void> => {
    for (let rest = batch; rest.length > 0; ) rest = skip(rest, (await writev(fd, rest)).bytesWritten);
  };
  return (batch, done) => void fileWork(writeAll(batch)).then(() => done(), done);
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

export type WritableStream = NodeJS.WritableStream & { cork(): void; uncork(): void };

/** Batches for pipes, sockets and terminals. The stream's errors come through the callback alone. */
export function streamBatches(stream: WritableStream): WriteBatch {
  stream.on('error', () => undefined);
  return (batch, done) => {
    stream.cork();
    batch.forEach((piece, i) => stream.write(piece, i === batch.length - 1 ? (error) => done(error) : undefined));
    stream.uncork();
  };
}
