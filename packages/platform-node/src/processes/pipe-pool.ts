/**
 * Pipes for tools. Node's pipe to a child is a pair of sockets, and a socket cannot be opened by name: `echo x >
 * /dev/stdout`, `cat /dev/stdin`, `tee /dev/stderr` fail in such a child with ENXIO. Node has no call for a pipe; a
 * shell has (see pipe-maker.ts), which makes many at once. The pool keeps the unused ones. All ends are close-on-exec,
 * so a tool gets only its own. They block, as a shell's do; Node makes the end that becomes its socket non-blocking,
 * which does not affect the other end: each is a separate open file.
 */

import type { Log } from '@stci/interface';
import { isMainThread } from '../system/main-thread.js';
import { closeEnds, isPassing, PipeMaker, type PipeEnds } from './pipe-maker.js';

/** Pipes in the first batch (four tools); each later batch is twice as large, up to the last. */
const BATCH_FIRST = 12;
const BATCH_LAST = 48;
/** Batch when descriptors are short: one tool's. */
const BATCH_LEAST = 3;

export class PipePool {
  readonly #log: Log;
  readonly #shell: string;
  #isWatched = false;
  #pipes: PipeEnds[] = [];
  #maker: PipeMaker | undefined;
  #batch = BATCH_FIRST;
  #isUsable = true;

  /** `held`: pipes opened before this process started; they are used first. */
  constructor(log: Log, shell = '/bin/sh', held: readonly PipeEnds[] = []) {
    this.#log = log;
    this.#shell = shell;
    this.#pipes = [...held];
  }

  get size(): number {
    return this.#pipes.length;
  }

  /** Begins to make the first batch before it is needed. */
  warm(): void {
    if (this.#pipes.length > 0 || !this.#isUsable) return;
    try {
      this.#maker ??= new PipeMaker(this.#shell, this.#batch);
    } catch {
      // Whoever takes one tries again, and is told.
    }
  }

  /** An unused pipe, whose ends the caller must close; undefined if none can be made. */
  take(): PipeEnds | undefined {
    if (this.#pipes.length === 0 && this.#isUsable) this.#fill();
    return this.#pipes.pop();
  }

  /** Closes the unused pipes. */
  drain(): void {
    for (const pipe of this.#pipes) closeEnds(pipe);
    this.#pipes = [];
    this.#maker?.end();
    this.#maker = undefined;
    this.#batch = BATCH_LEAST;
  }

  #fill(): void {
    this.#drainAtEnd();
    try {
      const maker = this.#maker ?? new PipeMaker(this.#shell, this.#batch);
      this.#maker = undefined;
      this.#pipes = maker.take();
      this.#batch = Math.min(this.#batch * 2, BATCH_LAST);
    } catch (error) {
      if (this.#batch > BATCH_LEAST) {
        this.#batch = BATCH_LEAST;
        return this.#fill();
      }
      if (!isPassing(error)) this.#giveUp(error as Error);
    }
  }

  #giveUp(error: Error): void {
    this.#isUsable = false;
    const what = 'Tools get sockets instead of pipes and cannot open /dev/stdout by name';
    this.#log.write('debug', `${what}: ${error.message}.`);
  }

  /** The end of a process closes all; that of a thread, when ended by force, leaves the pool's descriptors open. */
  #drainAtEnd(): void {
    if (this.#isWatched || isMainThread) return;
    this.#isWatched = true;
    process.once('exit', () => this.drain());
  }
}
