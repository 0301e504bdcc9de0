/** The history's file: each record is written at once, and is on the disk at the ends of repeats. */

import { closeSync, constants, fsyncSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { encodeRecord, type HistoryRecord } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { openOwn, type HeldDirectory } from '@stci/platform-node';
import { readReason } from '@stci/stcirun/front-end';
import { RUN_FILES } from './run-files.js';

const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;

export class HistoryFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #onError: (error: StciError) => void;
  #isBroken = false;

  /** Throws STCI_OUTPUT_FAILED. `onError` is called once, when a record could not be written: the rest is not. */
  constructor({ path, at }: Pick<HeldDirectory, 'path' | 'at'>, onError: (error: StciError) => void) {
    this.#path = join(path, RUN_FILES.history);
    this.#onError = onError;
    try {
      this.#fd = openOwn(join(at, RUN_FILES.history), O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
    } catch (thrown) {
      throw this.#failed(thrown);
    }
  }

  write(record: HistoryRecord): void {
    if (this.#isBroken) return;
    try {
      let rest = Buffer.from(encodeRecord(record));
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest));
      if (record.type === 'repeat-end' || record.type === 'run-end') fsyncSync(this.#fd);
    } catch (thrown) {
      this.#isBroken = true;
      this.#onError(this.#failed(thrown));
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #failed(thrown: unknown): StciError {
    return new StciError('STCI_OUTPUT_FAILED', `${this.#path} cannot be written: ${readReason(thrown)}.`);
  }
}
