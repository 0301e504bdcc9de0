/**
 * One file of a spool: records one behind the other, each a head (length, rank and stream, time, sequence) and the
 * bytes. The descriptor is opened when it is needed; a file that was dropped while a cursor reads it lives until then.
 */

import { close, openSync, read, rmSync, writev } from 'node:fs';
import { promisify } from 'node:util';
import { sourceId, sourceRank, sourceStream, type SourceId } from '@stci/core/iof';
import type { SpoolOutput, Tally } from '@stci/core/session';

const readAt = promisify(read);
const writeAll = promisify(writev);

/** u32 length, u32 source, f64 time, f64 sequence. */
const HEAD_BYTES = 24;
const BLOCK_BYTES = 256 * 1024;

/** Records that were read, and where the next begins. */
export interface Block {
  readonly records: SpoolOutput[];
  readonly next: number;
}

export class Segment {
  /** In whole records; what is beyond was not written yet, or is a write that failed in the middle. */
  bytes = 0;
  /** Sequence of the first and the last record. */
  first = 0;
  last = 0;
  readonly tally: Tally = new Map();
  readonly #path: string;
  #fd: number | undefined;
  #users = 0;
  #isRemoved = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Until `leave`, the descriptor stays open. */
  use(): void {
    this.#fd ??= openSync(this.#path, 'r+');
    this.#users += 1;
  }

  leave(): void {
    this.#users -= 1;
    this.#closeUnused();
  }

  /** Unlinks the file, which those that use it can still read. */
  remove(): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    rmSync(this.#path, { force: true });
  }

  /** Appends all or nothing. */
  async append(records: readonly SpoolOutput[]): Promise<void> {
    this.#fd ??= openSync(this.#path, this.bytes === 0 ? 'w+' : 'r+', 0o600);
    this.#users += 1;
    try {
      const pieces = records.flatMap((record) => [headOf(record), record.chunk]);
      const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
      const { bytesWritten } = await writeAll(this.#fd, pieces, this.bytes);
      if (bytesWritten !== bytes) throw new Error('no space is left');
      if (this.bytes === 0) this.first = (records[0] as SpoolOutput).sequence;
      this.bytes += bytes;
      this.last = (records.at(-1) as SpoolOutput).sequence;
      addTally(this.tally, tallyOf(records));
    } finally {
      this.leave();
    }
  }

  /** Whole records from `offset` on, some at a time; a longer one alone. */
  async read(offset: number): Promise<Block> {
    const records: SpoolOutput[] = [];
    let block = await this.#bytes(offset, BLOCK_BYTES);
    const wanted = block.length < HEAD_BYTES ? 0 : HEAD_BYTES + block.readUInt32LE(0);
    if (wanted > block.length) block = await this.#bytes(offset, wanted);
    let at = 0;
    while (at + HEAD_BYTES <= block.length) {
      const end = at + HEAD_BYTES + block.readUInt32LE(at);
      if (end > block.length) break;
      records.push(recordOf(block, at, end));
      at = end;
    }
    return { records, next: offset + at };
  }

  async #bytes(offset: number, bytes: number): Promise<Buffer> {
    const length = Math.min(bytes, this.bytes - offset);
    const block = Buffer.allocUnsafeSlow(Math.max(0, length));
    const { bytesRead } = await readAt(this.#fd as number, block, 0, length, offset);
    return block.subarray(0, bytesRead);
  }

  #closeUnused(): void {
    if (this.#users > 0 || this.#fd === undefined) return;
    close(this.#fd);
    this.#fd = undefined;
  }
}

function headOf({ rank, stream, chunk, wallMs, sequence }: SpoolOutput): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32LE(chunk.length, 0);
  head.writeUInt32LE(sourceId(rank, stream), 4);
  head.writeDoubleLE(wallMs, 8);
  head.writeDoubleLE(sequence, 16);
  return head;
}

function recordOf(block: Buffer, at: number, end: number): SpoolOutput {
  const source = block.readUInt32LE(at + 4);
  return {
    rank: sourceRank(source),
    stream: sourceStream(source),
    wallMs: block.readDoubleLE(at + 8),
    sequence: block.readDoubleLE(at + 16),
    chunk: block.subarray(at + HEAD_BYTES, end),
  };
}

export function tallyOf(records: readonly SpoolOutput[]): Tally {
  const tally: Tally = new Map();
  for (const { rank, stream, chunk } of records) addTally(tally, new Map([[sourceId(rank, stream), chunk.length]]));
  return tally;
}

export function addTally(to: Tally, from: ReadonlyMap<SourceId, number>): void {
  for (const [source, bytes] of from) to.set(source, (to.get(source) ?? 0) + bytes);
}
