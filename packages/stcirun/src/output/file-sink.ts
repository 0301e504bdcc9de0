/**
 * Output to files named by a template. Directories are made, files emptied when their first rank starts. Several
 * ranks or streams that come to one name are merged line by line, as on a screen. A file is closed with the last of
 * its streams; any error of the file system is told once and decides the job.
 */

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import {
  expandTemplate,
  LineMerger,
  sourceId,
  type OutputTemplate,
  type SourceId,
  type StreamName,
} from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { StciError } from '@stci/interface';
import { HELD_BYTES_MAX, type OutputFacts } from './sink.js';
import { fileBatches, Writer } from './writer.js';

export interface FileSinkParams {
  readonly template: OutputTemplate;
  readonly facts: OutputFacts;
  readonly job: number;
  readonly prefix: ((source: SourceId, wallMs: number) => Uint8Array) | undefined;
  /** Told once. */
  readonly onFault: (error: StciError) => void;
}

interface Target {
  readonly name: string;
  readonly fd: number;
  readonly writer: Writer;
  readonly merger: LineMerger;
}

type Held = readonly [stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void];

export class FileSink implements OutputSink {
  readonly #params: FileSinkParams;
  readonly #byName = new Map<string, Target>();
  readonly #bySource = new Map<SourceId, Target>();
  readonly #pids = new Map<number, number>();
  /** Output that came before the process id that its file name needs. */
  readonly #waiting = new Map<number, Held[]>();
  readonly #directories = new Set<string>();
  #failed = false;

  constructor(params: FileSinkParams) {
    this.#params = params;
  }

  started(rank: number, pid: number): void {
    this.#pids.set(rank, pid);
    this.#targetOf(rank, 'stdout');
    this.#targetOf(rank, 'stderr');
    for (const held of this.#waiting.get(rank) ?? []) this.push(rank, ...held);
    this.#waiting.delete(rank);
  }

  push(rank: number, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    if (this.#params.template.uses('pid') && !this.#pids.has(rank)) {
      const held = this.#waiting.get(rank) ?? [];
      held.push([stream, chunk, wallMs, release]);
      this.#waiting.set(rank, held);
      return;
    }
    const target = this.#targetOf(rank, stream);
    if (target === undefined) return release();
    target.merger.push(sourceId(rank, stream), chunk, wallMs, 0);
    target.writer.after(release);
  }

  end(rank: number, stream: StreamName): void {
    this.#bySource.get(sourceId(rank, stream))?.merger.end(sourceId(rank, stream));
  }

  finish(done: () => void): void {
    const targets = [...this.#byName.values()];
    let left = targets.length;
    if (left === 0) return done();
    for (const { fd, name, writer } of targets) {
      writer.after(() => {
        fs.close(fd, (error) => {
          if (error !== null) this.#fail(name, error);
          left -= 1;
          if (left === 0) done();
        });
      });
    }
  }

  breakLine(): void {
    // Files are not the screen.
  }

  #targetOf(rank: number, stream: StreamName): Target | undefined {
    const source = sourceId(rank, stream);
    const known = this.#bySource.get(source);
    if (known !== undefined || this.#failed) return known;
    const { facts, template, job } = this.#params;
    const name = expandTemplate(template, {
      rank,
      host: facts.hostOf(rank),
      stream,
      size: facts.size,
      app: facts.appOf(rank),
      pid: this.#pids.get(rank) ?? 0,
      job,
    });
    const target = this.#byName.get(name) ?? this.#open(name);
    if (target !== undefined) this.#bySource.set(source, target);
    return target;
  }

  #open(name: string): Target | undefined {
    try {
      const directory = dirname(name);
      if (!this.#directories.has(directory)) makeDirectory(directory);
      this.#directories.add(directory);
      const fd = fs.openSync(name, 'w');
      const writer = new Writer(fileBatches(fd), (error) => this.#fail(name, error));
      const { facts, prefix } = this.#params;
      const merger = new LineMerger({
        lineBytesMax: facts.lineBytesMax,
        heldBytesMax: HELD_BYTES_MAX,
        ...(prefix !== undefined && { prefix }),
        emit: (bytes) => writer.write(bytes),
      });
      const target = { name, fd, writer, merger };
      this.#byName.set(name, target);
      return target;
    } catch (thrown) {
      this.#fail(name, thrown as Error);
      return undefined;
    }
  }

  #fail(name: string, error: Error): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#params.onFault(outputError(`file ${name}`, error));
  }
}

/** With all that is missing above it. Node's own recursive form never returns where that cannot be made (/proc). */
function makeDirectory(directory: string): void {
  try {
    fs.mkdirSync(directory);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT' || dirname(directory) === directory) throw thrown;
    makeDirectory(dirname(directory));
    fs.mkdirSync(directory);
  }
}

/** Words for errors of the file system that users meet. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left there',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission is denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is no directory',
  EMFILE: 'too many files are open (raise `ulimit -n`, or use a template with fewer files)',
  ENOENT: 'no directory can be made there',
  EIO: 'the device reports an error',
};

export function outputError(where: string, error: NodeJS.ErrnoException): StciError {
  const reason = REASONS[error.code ?? ''] ?? error.message;
  return new StciError('STCI_OUTPUT_FAILED', `Output cannot be written to ${where}: ${reason}.`, { cause: error });
}
