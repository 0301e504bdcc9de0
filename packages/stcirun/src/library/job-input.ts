/** Standard input of a job from its caller, under the ranks' credit: a write resolves when there is room for more. */

import type { StdinSource } from '@stci/core/run';
import { StciError, type FrontEnd } from '@stci/interface';
import type { InputChunk, JobOptions } from './options.js';

/** Longest piece that is sent at once. */
const PIECE_BYTES = 64 * 1024;

type Source = NonNullable<JobOptions['input']>;
type Reader = Pick<FrontEnd, 'writeStdin' | 'closeStdin'>;

export class JobInput implements StdinSource {
  readonly #source: Source | undefined;
  readonly #onFault: (thrown: unknown) => void;
  #frontEnd: Reader | undefined;
  #isOver = false;
  /** Resolves when the first rank has started, or none will. */
  readonly #opened: Promise<void>;
  #open: () => void = () => undefined;
  #onRoom: () => void = () => undefined;
  /** The last write: one follows the other. */
  #last: Promise<unknown> = Promise.resolve();

  /** `onFault`: the source failed. */
  constructor(source: Source | undefined, onFault: (thrown: unknown) => void) {
    this.#source = source;
    this.#onFault = onFault;
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  /** Resolves when there is room again: with false where no rank reads any longer. */
  write(chunk: InputChunk): Promise<boolean> {
    // A copy: what is sent is kept until it has arrived.
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk.slice();
    return this.#queue(() => this.#write(bytes));
  }

  /** The end of the input, after what was written before. */
  close(): Promise<void> {
    return this.#queue(async () => {
      await this.#opened;
      if (this.#isOver) return;
      this.stop();
      this.#frontEnd?.closeStdin();
    });
  }

  connect(frontEnd: Reader): this {
    this.#frontEnd = frontEnd;
    return this;
  }

  start(): void {
    this.#open();
    if (this.#source !== undefined) void this.#pump(this.#source).catch(this.#onFault);
  }

  drain(): void {
    this.#onRoom();
  }

  /** No rank reads any longer, or the job has ended. A stream that is the source is destroyed, as by `for await`. */
  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#open();
    this.#onRoom();
    const source = this.#source as { readonly destroy?: unknown } | undefined;
    if (typeof source?.destroy === 'function') source.destroy();
  }

  #queue<T>(call: () => Promise<T>): Promise<T> {
    const done = this.#last.then(call);
    this.#last = done;
    return done;
  }

  async #write(bytes: Uint8Array): Promise<boolean> {
    await this.#opened;
    for (let from = 0; from < bytes.length && !this.#isOver; from += PIECE_BYTES) {
      if (this.#frontEnd?.writeStdin(bytes.subarray(from, from + PIECE_BYTES)) === true) continue;
      if (!this.#isOver) await new Promise<void>((resolve) => (this.#onRoom = resolve));
    }
    return !this.#isOver;
  }

  async #pump(source: Source): Promise<void> {
    try {
      for await (const chunk of typeof source === 'string' || source instanceof Uint8Array ? [source] : source) {
        if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
          throw new StciError('STCI_USAGE', `input: expected text or bytes, got ${typeof chunk}.`);
        }
        if (!(await this.write(chunk))) return;
      }
    } catch (thrown) {
      // A stream that was destroyed because nobody reads has not failed.
      if (!this.#isOver) throw thrown;
    }
    await this.close();
  }
}
