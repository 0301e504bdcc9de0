/**
 * Output to files named by a template. Directories are made, files emptied when their first rank starts. Several
 * ranks or streams that come to one name are merged line by line, as on a screen. The name is made anew at each start
 * of a rank, which may have another host or process than before. A file is closed with the last of its streams, or
 * while others are written (file-pool.ts), but not before all ranks have started: the reader of a named pipe would
 * take the end of the first ranks for that of all. The first error of the file system is reported and ends the job.
 */

import {
  expandTemplate,
  LineMerger,
  sourceId,
  type OutputTemplate,
  type SourceId,
  type StreamName,
} from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import type { StciError } from '@stci/interface';
import { HELD_BYTES_MAX, type OutputFacts } from './sink.js';
import { outputError } from '../process/output-error.js';
import { FilePool, PooledFile } from './file-pool.js';
import { Writer, type WriteBatch } from './writer.js';

export interface FileSinkParams {
  readonly template: OutputTemplate;
  readonly facts: OutputFacts;
  readonly job: number;
  readonly prefix: ((source: SourceId, wallMs: number) => Uint8Array) | undefined;
  /** Called once. */
  readonly onFault: (error: StciError) => void;
}

interface Target {
  readonly file: PooledFile;
  readonly writer: Writer;
  readonly merger: LineMerger;
  /** Streams into the file that have not ended. */
  readonly streams: Set<SourceId>;
}

export class FileSink implements OutputSink {
  readonly #params: FileSinkParams;
  readonly #pool = new FilePool();
  readonly #byName = new Map<string, Target>();
  readonly #bySource = new Map<SourceId, Target>();
  readonly #pids = new Map<number, number>();
  /** Whose streams have ended, while ranks that are to start may come to the same name. */
  readonly #idle = new Set<Target>();
  #failed = false;
  #isAbandoned = false;
  #onAbandoned: () => void = () => undefined;

  constructor(params: FileSinkParams) {
    this.#params = params;
  }

  started(rank: number, pid: number): void {
    this.#pids.set(rank, pid);
    for (const stream of ['stdout', 'stderr'] as const) this.#open(rank, stream);
    if (this.#pids.size < this.#params.facts.size) return;
    for (const target of this.#idle) if (target.streams.size === 0) void this.#close(target);
    this.#idle.clear();
  }

  push(rank: number, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    const target = this.#targetOf(rank, stream);
    if (target === undefined) return release();
    target.merger.push(sourceId(rank, stream), chunk, wallMs, 0);
    target.writer.after(release);
  }

  end(rank: number, stream: StreamName): void {
    const source = sourceId(rank, stream);
    const target = this.#bySource.get(source);
    if (target !== undefined) this.#leave(source, target);
  }

  finish(done: () => void): void {
    let left = this.#byName.size;
    const finish = (): void => {
      if (left >= 0) done();
      left = -1;
    };
    this.#onAbandoned = finish;
    if (left === 0 || this.#isAbandoned) return finish();
    for (const target of this.#byName.values()) {
      target.writer.after(() => {
        void this.#close(target).then(() => {
          left -= 1;
          if (left === 0) finish();
        });
      });
    }
  }

  breakLine(): void {
    // Files are not the screen.
  }

  abandon(): void {
    this.#failed = true;
    this.#isAbandoned = true;
    for (const { writer } of this.#byName.values()) writer.abandon();
    this.#onAbandoned();
  }

  #onIdle(target: Target): void {
    if (this.#pids.size < this.#params.facts.size) this.#idle.add(target);
    else void this.#close(target);
  }

  #close({ file }: Target): Promise<void> {
    return this.#pool.close(file).catch((error: Error) => this.#fail(file.name, error));
  }

  #leave(source: SourceId, target: Target): void {
    target.merger.end(source);
    target.streams.delete(source);
    if (target.streams.size === 0) target.writer.after(() => this.#onIdle(target));
  }

  #targetOf(rank: number, stream: StreamName): Target | undefined {
    return this.#bySource.get(sourceId(rank, stream)) ?? this.#open(rank, stream);
  }

  /** Undefined once a file has failed. */
  #open(rank: number, stream: StreamName): Target | undefined {
    if (this.#failed) return undefined;
    const source = sourceId(rank, stream);
    const { facts, template, job } = this.#params;
    const name = expandTemplate(template, {
      rank: facts.rankOf(rank),
      host: facts.hostOf(rank),
      stream,
      size: facts.size,
      app: facts.appOf(rank),
      pid: this.#pids.get(rank) ?? 0,
      job,
    });
    const target = this.#byName.get(name) ?? this.#make(name);
    const before = this.#bySource.get(source);
    target.streams.add(source);
    this.#bySource.set(source, target);
    if (before !== undefined && before !== target) this.#leave(source, before);
    return target;
  }

  #make(name: string): Target {
    const file = new PooledFile(name);
    const write: WriteBatch = (batch, done) => void this.#pool.write(file, batch).then(() => done(), done);
    const writer = new Writer(write, (error) => this.#fail(name, error), { gathers: true });
    const { facts, prefix } = this.#params;
    const merger = new LineMerger({
      lineBytesMax: facts.lineBytesMax,
      heldBytesMax: HELD_BYTES_MAX,
      ...(prefix !== undefined && { prefix }),
      emit: (bytes) => writer.write(bytes),
    });
    const target: Target = { file, writer, merger, streams: new Set() };
    this.#byName.set(name, target);
    void this.#pool.make(file).catch((error: Error) => this.#fail(name, error));
    return target;
  }

  #fail(name: string, error: Error): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#params.onFault(outputError(`file ${name}`, error));
  }
}
