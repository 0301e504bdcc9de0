/**
 * The file of `--events`: made, or emptied, before anything is started; each line is written as it comes. It holds up
 * nothing: what a reader that stands still leaves unread is kept up to a bound, and dropped then.
 */

import type { EventFile } from '@stci/core/run';
import { StciError } from '@stci/interface';
import { FilePool, PooledFile } from './file-pool.js';
import { outputError } from '../process/output-error.js';
import { Writer } from './writer.js';

/** Unwritten lines that are kept. */
const HELD_BYTES_MAX = 64 << 20;

/** How long the end waits for a reader, or a file system, that takes nothing. */
const FINISH_MS = 5000;

export class EventsFile {
  readonly #path: string;
  readonly #pool = new FilePool();
  readonly #file: PooledFile;

  private constructor(path: string) {
    this.#path = path;
    this.#file = new PooledFile(path);
  }

  /** Throws STCI_OUTPUT_FAILED. */
  static async make(path: string): Promise<EventsFile> {
    const made = new EventsFile(path);
    await made.#pool.make(made.#file).catch((error: Error) => {
      throw made.#error(error);
    });
    return made;
  }

  /** `onFault` is called once; what comes after it is dropped. */
  open(onFault: (error: StciError) => void, finishMs = FINISH_MS): EventFile {
    const writer = new Writer((batch, done) => {
      this.#pool.write(this.#file, batch).then(() => done(), done);
    }, (error) => onFault(this.#error(error)));
    let isDropped = false;
    let onDropped = (): void => undefined;
    const drop = (): void => {
      isDropped = true;
      writer.abandon();
      onDropped();
    };
    const standsStill = (): void => {
      drop();
      onFault(new StciError('STCI_OUTPUT_FAILED', `Events are lost: the reader of ${this.#path} does not read, or `
        + 'its file system does not answer.'));
    };
    return {
      write: (line) => {
        if (isDropped) return;
        writer.write(Buffer.from(line));
        if (writer.queuedBytes > HELD_BYTES_MAX) standsStill();
      },
      finish: (done) => {
        let isDone = false;
        const end = (): void => {
          if (isDone) return;
          isDone = true;
          clearTimeout(timer);
          done();
        };
        const timer = setTimeout(standsStill, finishMs);
        onDropped = end;
        if (isDropped) return end();
        writer.after(() => void this.#pool.close(this.#file).then(end, end));
      },
      abandon: drop,
    };
  }

  #error(error: Error): StciError {
    return outputError(`file ${this.#path}`, error);
  }
}
