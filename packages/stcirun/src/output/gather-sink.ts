/**
 * Collects output until the end and shows what is equal once (`--gather`). In memory up to a bound, beyond it in one
 * private temporary file without a name, each rank's pieces as extents of it; a running digest tells which outputs
 * are equal.
 */

import { createHash, type Hash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatherHeader, groupOutput, NEWLINE, sourceId, sourceRank, sourceStream } from '@stci/core/iof';
import type { SourceId, StreamName } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import type { StciError } from '@stci/interface';
import { outputError } from './file-sink.js';
import type { Terminal } from './terminal.js';
import type { Writer } from './writer.js';

const MEMORY_BYTES_MAX = 32 << 20;
const COPY_BYTES = 1 << 20;

interface Extent {
  readonly at: number;
  readonly bytes: number;
}

interface Collected {
  readonly hash: Hash;
  readonly extents: Extent[];
  pieces: Uint8Array[];
  bytes: number;
  last: number;
}

export interface GatherSinkParams {
  readonly terminal: Terminal;
  readonly onFault: (error: StciError) => void;
  /** Bytes kept in memory before the file is used. */
  readonly memoryBytesMax?: number;
}

export class GatherSink implements OutputSink {
  readonly #params: GatherSinkParams;
  readonly #collected = new Map<SourceId, Collected>();
  #memoryBytes = 0;
  #fd: number | undefined;
  #fileBytes = 0;
  #failed = false;

  constructor(params: GatherSinkParams) {
    this.#params = params;
  }

  started(): void {
    // Groups need no process ids.
  }

  push(rank: number, stream: StreamName, chunk: Uint8Array, _wallMs: number, release: () => void): void {
    const source = sourceId(rank, stream);
    let own = this.#collected.get(source);
    if (own === undefined) {
      own = { hash: createHash('sha256'), extents: [], pieces: [], bytes: 0, last: NEWLINE };
      this.#collected.set(source, own);
    }
    own.hash.update(chunk);
    own.pieces.push(chunk);
    own.bytes += chunk.length;
    own.last = chunk[chunk.length - 1] ?? own.last;
    this.#memoryBytes += chunk.length;
    if (this.#memoryBytes > (this.#params.memoryBytesMax ?? MEMORY_BYTES_MAX)) this.#spill();
    release();
  }

  end(): void {
    // Shown at the end of the job.
  }

  breakLine(): void {
    // Nothing is on the screen before the end.
  }

  finish(done: () => void): void {
    const { terminal } = this.#params;
    this.#show('stdout', terminal.out, () => {
      this.#show('stderr', terminal.err, () => {
        if (this.#fd !== undefined) fs.closeSync(this.#fd);
        terminal.flush(done);
      });
    });
  }

  /** Puts all that is in memory into the file. */
  #spill(): void {
    if (this.#failed) return;
    try {
      this.#fd ??= openNameless();
      for (const own of this.#collected.values()) {
        for (const piece of own.pieces) {
          fs.writeSync(this.#fd, piece, 0, piece.length, this.#fileBytes);
          own.extents.push({ at: this.#fileBytes, bytes: piece.length });
          this.#fileBytes += piece.length;
        }
        own.pieces = [];
      }
      this.#memoryBytes = 0;
    } catch (thrown) {
      this.#failed = true;
      this.#params.onFault(outputError(`a temporary file in ${tmpdir()}`, thrown as Error));
    }
  }

  #show(stream: StreamName, writer: Writer, done: () => void): void {
    const mine = [...this.#collected].filter(([source]) => sourceStream(source) === stream);
    const groups = groupOutput(
      mine.map(([source, own]) => ({ rank: sourceRank(source), bytes: own.bytes, digest: own.hash.digest('hex') })),
    );
    const next = (i: number): void => {
      const group = groups[i];
      if (group === undefined) return done();
      writer.write(Buffer.from(gatherHeader(group, stream)));
      const own = this.#collected.get(sourceId(group.ranks[0] as number, stream)) as Collected;
      this.#copy(own, writer, 0, () => {
        for (const piece of own.pieces) writer.write(piece);
        if (own.last !== NEWLINE) writer.write(Buffer.from('\n'));
        writer.after(() => next(i + 1));
      });
    };
    next(0);
  }

  /** Copies the extents from number `from` on, a bounded part at a time. */
  #copy(own: Collected, writer: Writer, from: number, done: () => void): void {
    let bytes = 0;
    let at = from;
    for (; at < own.extents.length && bytes < COPY_BYTES; at += 1) {
      const extent = own.extents[at] as Extent;
      const part = Buffer.allocUnsafe(extent.bytes);
      fs.readSync(this.#fd as number, part, 0, extent.bytes, extent.at);
      writer.write(part);
      bytes += extent.bytes;
    }
    if (at === own.extents.length) done();
    else writer.after(() => setImmediate(() => this.#copy(own, writer, at, done)));
  }
}

/** Nobody else can open it, and it is gone with the process, however that ends. */
function openNameless(): number {
  const directory = fs.mkdtempSync(join(tmpdir(), 'stci-gather-'));
  const name = join(directory, 'output');
  const fd = fs.openSync(name, 'wx+', 0o600);
  fs.unlinkSync(name);
  fs.rmdirSync(directory);
  return fd;
}
