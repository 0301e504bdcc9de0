/**
 * Collects output until the end and shows what is equal once (`--gather`). In memory up to a bound, beyond it in one
 * private temporary file without a name, each rank's pieces as extents of it; a running digest shows which outputs
 * are equal.
 */

import type { Hash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foldSorted } from '@stci/core';
import { gatherHeader, groupOutput, NEWLINE, sourceId, sourceRank, sourceStream } from '@stci/core/iof';
import type { SourceId, StreamName } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { printable, StciError, type Rank } from '@stci/interface';
import { builtin, makeTemporary } from '@stci/platform-node';
import { outputError } from '../process/output-error.js';
import type { OutputFacts } from './sink.js';
import type { Terminal } from './terminal.js';
import type { Writer } from './writer.js';

const MEMORY_BYTES_MAX = 32 << 20;
const COPY_BYTES = 1 << 20;

const TMPDIR_REMEDY = ' Set TMPDIR to a directory that exists, has room, and is not for others to change.';

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
  readonly facts: OutputFacts;
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
    // Parts of an output are never shown: if it cannot be kept whole, that is reported instead.
    if (this.#failed) return release();
    const source = sourceId(rank, stream);
    let own = this.#collected.get(source);
    if (own === undefined) {
      own = { hash: builtin('node:crypto').createHash('sha256'), extents: [], pieces: [], bytes: 0, last: NEWLINE };
      this.#collected.set(source, own);
    }
    own.hash.update(chunk);
    own.pieces.push(chunk);
    own.bytes += chunk.length;
    own.last = chunk[chunk.length - 1] ?? own.last;
    this.#memoryBytes += chunk.length;
    if (this.#memoryBytes <= (this.#params.memoryBytesMax ?? MEMORY_BYTES_MAX)) return release();
    this.#spill();
    release();
  }

  end(): void {
    // Shown at the end of the job.
  }

  breakLine(): void {
    // Nothing is on the screen before the end.
  }

  abandon(): void {
    // What the terminal is given from now on it drops.
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
          writeWhole(this.#fd, piece, this.#fileBytes);
          own.extents.push({ at: this.#fileBytes, bytes: piece.length });
          this.#fileBytes += piece.length;
        }
        own.pieces = [];
      }
      this.#memoryBytes = 0;
    } catch (thrown) {
      this.#failed = true;
      this.#collected.clear();
      this.#params.onFault(outputError(`a temporary file in ${tmpdir()}`, thrown as Error, TMPDIR_REMEDY));
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
      const ranks = [...new Set(group.ranks.map(this.#params.facts.rankOf))].sort((a, b) => a - b);
      writer.write(Buffer.from(gatherHeader({ ...group, ranks }, stream, this.#hostsOf(group.ranks))));
      const own = this.#collected.get(sourceId(group.ranks[0] as number, stream)) as Collected;
      this.#copy(own, writer, 0, () => {
        for (const piece of own.pieces) writer.write(piece);
        if (own.last !== NEWLINE) writer.write(Buffer.from('\n'));
        writer.after(() => next(i + 1));
      });
    };
    next(0);
  }

  /** As a list; empty where all ranks of the job are on one host. */
  #hostsOf(ranks: readonly Rank[]): string {
    const { hostOf, size } = this.#params.facts;
    const first = hostOf(0);
    const isOneHost = Array.from({ length: size }, (_, rank) => hostOf(rank)).every((host) => host === first);
    return isOneHost ? '' : printable(foldSorted(ranks.map(hostOf)));
  }

  /** Copies the extents from number `from` on, a bounded part at a time. */
  #copy(own: Collected, writer: Writer, from: number, done: () => void): void {
    let bytes = 0;
    let at = from;
    for (; at < own.extents.length && bytes < COPY_BYTES; at += 1) {
      const extent = own.extents[at] as Extent;
      writer.write(readWhole(this.#fd as number, extent));
      bytes += extent.bytes;
    }
    if (at === own.extents.length) done();
    else writer.after(() => setImmediate(() => this.#copy(own, writer, at, done)));
  }
}

/** The system may take less than it is given, such as the last bytes of a full disk. */
function writeWhole(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += fs.writeSync(fd, bytes, done, bytes.length - done, at + done);
}

function readWhole(fd: number, { at, bytes }: Extent): Uint8Array {
  const part = Buffer.allocUnsafe(bytes);
  for (let done = 0; done < bytes; ) {
    const count = fs.readSync(fd, part, done, bytes - done, at + done);
    if (count === 0) throw new StciError('STCI_OUTPUT_FAILED', 'The temporary file of --gather has been cut short.');
    done += count;
  }
  return part;
}

/** Other processes cannot open it, and the system removes it with the process, however that ends. */
function openNameless(): number {
  const directory = makeTemporary(tmpdir(), 'stci-gather-');
  const name = join(directory, 'output');
  const fd = fs.openSync(name, 'wx+', 0o600);
  fs.unlinkSync(name);
  fs.rmdirSync(directory);
  return fd;
}
