/**
 * Files that are written in turns: opened when there is something to write, at most so many at a time; the one that
 * was written longest ago is closed for another. Nothing here blocks the loop: files are opened, written and closed by
 * the thread pool, and a named pipe, which could hold up a thread for ever, without blocking.
 */

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { builtin } from '@stci/platform-node';
import { fileWork } from '../process/leave.js';
import { fileBatches, streamBatches, type WriteBatch } from './writer.js';

/** Tracks work of the thread pool, which a file system that hangs holds up. */
function tracked<A extends unknown[], T>(work: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  return (...args) => fileWork(work(...args));
}

const open = tracked(promisify(fs.open));
const close = tracked(promisify(fs.close));
const fstat = tracked(promisify<number, fs.Stats>(fs.fstat));
const mkdir = tracked(promisify(fs.mkdir));

const OPEN_MAX = 256;

const { O_APPEND, O_CREAT, O_NONBLOCK, O_TRUNC, O_WRONLY } = fs.constants;

interface Opened {
  readonly write: WriteBatch;
  /** A pipe or a device that is read meanwhile: its reader would take a close for the end. */
  readonly isKept: boolean;
  close(): Promise<void>;
}

/** One file; its writes and its close are done one after the other. */
export class PooledFile {
  readonly name: string;
  opened: Opened | undefined;
  isMade = false;
  isBusy = false;
  tail: Promise<void> = Promise.resolve();

  constructor(name: string) {
    this.name = name;
  }
}

export class FilePool {
  /** Open files, the one that was written longest ago first. */
  readonly #open = new Set<PooledFile>();
  readonly #directories = new Map<string, Promise<void>>();
  #openMax = OPEN_MAX;
  #count = 0;
  /** Files that wait for another to be idle. */
  #waiting: (() => void)[] = [];

  /** Makes the file, or empties it. */
  make(file: PooledFile): Promise<void> {
    return this.#inTurn(file, () => Promise.resolve());
  }

  write(file: PooledFile, batch: readonly Uint8Array[]): Promise<void> {
    return this.#inTurn(file, ({ write }) => {
      return new Promise((resolve, reject) => {
        write(batch, (error) => (error ? reject(error) : resolve()));
      });
    });
  }

  /** Closes the file, if it is open, after all that is to be written to it. */
  close(file: PooledFile): Promise<void> {
    return this.#chain(file, () => this.#close(file));
  }

  #inTurn(file: PooledFile, work: (opened: Opened) => Promise<void>): Promise<void> {
    return this.#chain(file, async () => {
      file.isBusy = true;
      try {
        await work(await this.#openFile(file));
      } finally {
        file.isBusy = false;
        if (this.#open.delete(file)) this.#open.add(file);
        this.#waiting.shift()?.();
      }
    });
  }

  #chain(file: PooledFile, work: () => Promise<void>): Promise<void> {
    const done = file.tail.then(work);
    file.tail = done.catch(() => undefined);
    return done;
  }

  async #openFile(file: PooledFile): Promise<Opened> {
    if (file.opened !== undefined) return file.opened;
    while (this.#count >= this.#openMax) await this.#closeIdle();
    this.#count += 1;
    try {
      file.opened = await this.#openNow(file);
      file.isMade = true;
      this.#open.add(file);
      return file.opened;
    } catch (thrown) {
      this.#count -= 1;
      const { code } = thrown as NodeJS.ErrnoException;
      if ((code !== 'EMFILE' && code !== 'ENFILE') || this.#count === 0) throw thrown;
      this.#openMax = this.#count;
      return this.#openFile(file);
    }
  }

  /** Closes one that is not being written, or waits until there may be one. */
  async #closeIdle(): Promise<void> {
    const idle = [...this.#open].find(({ isBusy, opened }) => !isBusy && opened?.isKept === false);
    if (idle !== undefined) return this.#close(idle);
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #close(file: PooledFile): Promise<void> {
    const { opened } = file;
    if (opened === undefined) return;
    file.opened = undefined;
    this.#open.delete(file);
    try {
      await opened.close();
    } finally {
      this.#count -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #openNow({ name, isMade }: PooledFile): Promise<Opened> {
    if (!isMade) await this.#makeDirectory(dirname(name));
    // A named pipe without a reader is an error at once, not a wait.
    const fd = await open(name, O_WRONLY | O_NONBLOCK | O_APPEND | (isMade ? 0 : O_CREAT | O_TRUNC), 0o666);
    const stats = await fstat(fd);
    if (!stats.isFIFO()) return { write: fileBatches(fd), isKept: !stats.isFile(), close: () => close(fd) };
    const stream = new (builtin('node:net').Socket)({ fd, readable: false, writable: true });
    const end = (): Promise<void> => new Promise((resolve) => void stream.end(() => resolve()));
    return { write: streamBatches(stream), isKept: true, close: end };
  }

  /** Makes a directory with all that is missing above it; once for all files in it. */
  #makeDirectory(directory: string): Promise<void> {
    const known = this.#directories.get(directory);
    if (known !== undefined) return known;
    const made = makeDirectory(directory);
    this.#directories.set(directory, made);
    return made;
  }
}

/** Node's own recursive form never returns where a directory cannot be made (/proc). */
async function makeDirectory(directory: string): Promise<void> {
  const code = await tryMake(directory);
  if (code !== 'ENOENT') return;
  await makeDirectory(dirname(directory));
  // Not again from the start: below /proc a directory cannot be made although its parent is there.
  await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** 'ENOENT' where the parent is missing; undefined where the directory is there. Throws otherwise. */
async function tryMake(directory: string): Promise<'ENOENT' | undefined> {
  try {
    await mkdir(directory);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return undefined;
    if (code === 'ENOENT' && dirname(directory) !== directory) return code;
    throw thrown;
  }
  return undefined;
}
