/**
 * One file of a spool: records one behind the other, each a head (length, rank and stream, time, sequence) and the
 * bytes. The file is opened when it is needed; one that was dropped while a cursor reads it lives until then.
 */

import { sourceId, sourceRank, sourceStream, type SourceId } from '../iof/source.js';
import type { SpoolOutput, Tally } from '../messages/records.js';
import type { SpoolFile } from './files.js';

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
  readonly #file: SpoolFile;
  #users = 0;
  #isOpen = false;
  #isRemoved = false;

  constructor(file: SpoolFile) {
    this.#file = file;
  }

  /** Until `leave`, the file stays open. */
  use(): void {
    this.#users += 1;
    try {
      this.#open();
    } catch {
      // Then nothing is read of it.
    }
  }

  leave(): void {
    this.#users -= 1;
    if (this.#users > 0 || !this.#isOpen) return;
    this.#isOpen = false;
    this.#file.close();
  }

  /** Unlinks the file, which those that use it can still read. */
  remove(): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#file.remove();
  }

  /** Appends all or nothing. */
  append(records: readonly SpoolOutput[], done: (error?: unknown) => void): void {
    this.#users += 1;
    const end = (error?: unknown): void => {
      this.leave();
      done(error);
    };
    try {
      this.#open();
    } catch (error) {
      return end(error);
    }
    const pieces = records.flatMap((record) => [headOf(record), record.chunk]);
    this.#file.write(this.bytes, pieces, (error) => {
      if (error !== undefined) return end(error);
      if (this.bytes === 0) this.first = (records[0] as SpoolOutput).sequence;
      this.bytes += pieces.reduce((sum, { length }) => sum + length, 0);
      this.last = (records.at(-1) as SpoolOutput).sequence;
      addTally(this.tally, tallyOf(records));
      end();
    });
  }

  /** Whole records from `offset` on, some at a time; a longer one alone. */
  read(offset: number, done: (block: Block) => void): void {
    this.#bytes(offset, BLOCK_BYTES, (block) => {
      const wanted = block.length < HEAD_BYTES ? 0 : HEAD_BYTES + viewOf(block).getUint32(0);
      if (wanted <= block.length) return done(this.#records(block, offset));
      this.#bytes(offset, wanted, (longer) => done(this.#records(longer, offset)));
    });
  }

  #bytes(offset: number, bytes: number, done: (block: Uint8Array) => void): void {
    const length = Math.min(bytes, this.bytes - offset);
    if (length <= 0 || !this.#isOpen) return done(new Uint8Array(0));
    // A cursor may close meanwhile.
    this.#users += 1;
    this.#file.read(offset, length, (block) => {
      this.leave();
      done(block);
    });
  }

  /** The whole records of a block that begins at `offset`, up to one that this segment did not write. */
  #records(block: Uint8Array, offset: number): Block {
    const records: SpoolOutput[] = [];
    const view = viewOf(block);
    let at = 0;
    let before = this.first - 1;
    while (at + HEAD_BYTES <= block.length) {
      const end = at + HEAD_BYTES + view.getUint32(at);
      const [source, wallMs, sequence] = [view.getUint32(at + 4), view.getFloat64(at + 8), view.getFloat64(at + 16)];
      const isOwn = Number.isInteger(sequence) && sequence > before && sequence <= this.last
        && wallMs >= 0 && wallMs < Infinity && this.tally.has(source);
      if (end > block.length || !isOwn) break;
      const chunk = block.subarray(at + HEAD_BYTES, end);
      records.push({ rank: sourceRank(source), stream: sourceStream(source), wallMs, sequence, chunk });
      before = sequence;
      at = end;
    }
    return { records, next: offset + at };
  }

  #open(): void {
    if (!this.#isOpen) this.#file.open();
    this.#isOpen = true;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function headOf({ rank, stream, chunk, wallMs, sequence }: SpoolOutput): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  const view = viewOf(head);
  view.setUint32(0, chunk.length);
  view.setUint32(4, sourceId(rank, stream));
  view.setFloat64(8, wallMs);
  view.setFloat64(16, sequence);
  return head;
}

export function tallyOf(records: readonly SpoolOutput[]): Tally {
  const tally: Tally = new Map();
  for (const { rank, stream, chunk } of records) addTally(tally, new Map([[sourceId(rank, stream), chunk.length]]));
  return tally;
}

export function addTally(to: Tally, from: ReadonlyMap<SourceId, number>): void {
  for (const [source, bytes] of from) to.set(source, (to.get(source) ?? 0) + bytes);
}
