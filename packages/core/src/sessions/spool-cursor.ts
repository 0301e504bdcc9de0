/**
 * A reader of a spool, at its own pace: events and output in their order, from memory where it keeps up, else from the
 * files. Output that was dropped before it could be read is counted.
 */

import {
  costOf, toWire, type SpoolEvent, type SpoolOutput, type SpoolRecord, type Tally,
} from '../messages/records.js';
import type { RecordBatch } from './contracts.js';
import { addTally, tallyOf, type Block, type Segment } from './spool-segment.js';

/** What a cursor sees of its spool. */
export interface SpoolContents {
  readonly events: readonly SpoolEvent[];
  /** On disk, oldest first. */
  readonly segments: readonly Segment[];
  /** Not on disk, oldest first. */
  readonly recent: readonly SpoolOutput[];
  /** Behind the last output, and behind the last that was written to the disk. */
  readonly outputEnd: number;
  readonly diskEnd: number;
}

/** What a later reader goes on with. */
export interface CursorPlace {
  readonly position: number;
  readonly missed: Tally;
}

export class SpoolCursor {
  readonly #spool: SpoolContents;
  /** Sequence of the output that is wanted next. */
  #next: number;
  #event = 0;
  /** Read before all others. */
  #first: SpoolEvent | undefined;
  #missed: Tally;
  /** The file that it is in the middle of. */
  #segment: Segment | undefined;
  #offset = 0;
  #block: SpoolOutput[] = [];
  /** Read, and not yet acknowledged. */
  #sent: SpoolRecord[] = [];
  /** Of the oldest of them what is acknowledged. */
  #acknowledged = 0;
  /** How many records were read, and of these acknowledged. */
  #readCount = 0;
  #shownCount = 0;
  /** What was read as missed, until so many records are acknowledged: the reader may leave before it has shown it. */
  readonly #told: Tally = new Map();
  #toldUntil = 0;
  #isClosed = false;
  readonly #onClosed: () => void;

  constructor(spool: SpoolContents, from: number, missed: Tally, onClosed: () => void) {
    this.#spool = spool;
    this.#next = from;
    this.#missed = missed;
    this.#onClosed = onClosed;
  }

  /** Everything before has been read, or dropped. */
  get position(): number {
    return this.#next;
  }

  /** Where one begins that is to get what this reader has not got: with what it has not been told that it missed. */
  get unread(): CursorPlace {
    return { position: this.#next, missed: new Map(this.#missed) };
  }

  /** Everything before has been shown. */
  get shown(): number {
    return this.#sent.find((record): record is SpoolOutput => 'chunk' in record)?.sequence ?? this.#next;
  }

  /** For this reader alone. */
  tellFirst(event: SpoolEvent): void {
    this.#first = event;
  }

  get isAtEnd(): boolean {
    return this.#first === undefined && this.#event === this.#spool.events.length
      && this.#next >= this.#spool.outputEnd;
  }

  /** Records of about so many bytes; none: there are no more yet. Calls back soon where none is in a file. */
  read(bytesMax: number, done: (batch: RecordBatch) => void): void {
    const records: SpoolRecord[] = [];
    let bytes = 0;
    const go = (): void => {
      while (bytes < bytesMax && !this.#isClosed) {
        const segment = this.#wanted();
        if (segment !== undefined) {
          return segment.read(this.#offset, (block) => {
            if (!this.#isClosed) this.#onBlock(segment, block);
            go();
          });
        }
        const record = this.#take();
        if (record === undefined) break;
        bytes += costOf(toWire(record));
        records.push(record);
        this.#sent.push(record); // At once: the reader may leave while a file is read.
      }
      const missed = this.#missed;
      this.#missed = new Map();
      this.#readCount += records.length;
      if (missed.size > 0) this.#toldUntil = this.#readCount + (records.length > 0 ? 0 : 1);
      addTally(this.#told, missed);
      done({ records, missed });
    };
    go();
  }

  /** So much of what was read has been shown. */
  acknowledge(bytes: number): void {
    this.#acknowledged += bytes;
    let count = 0;
    for (const record of this.#sent) {
      const cost = costOf(toWire(record));
      if (cost > this.#acknowledged) break;
      this.#acknowledged -= cost;
      count += 1;
    }
    this.#sent.splice(0, count);
    this.#shownCount += count;
    if (this.#shownCount >= this.#toldUntil) this.#told.clear();
  }

  /** Where the next reader goes on: with what was not acknowledged, as far as it is kept. */
  get place(): CursorPlace {
    const outputs = this.#sent.filter((record): record is SpoolOutput => 'chunk' in record);
    const missed = new Map(this.#missed);
    addTally(missed, this.#told);
    const oldest = this.#spool.segments.find(({ bytes }) => bytes > 0)?.first ?? this.#spool.recent[0]?.sequence;
    addTally(missed, tallyOf(outputs.filter(({ sequence }) => sequence < (oldest ?? Infinity))));
    return { position: outputs[0]?.sequence ?? this.#next, missed };
  }

  /** The segment is no longer kept. One that was read in part is read to its end. */
  onDropped(segment: Segment): void {
    if (this.#segment === segment || this.#next > segment.last) return;
    if (this.#next > segment.first) this.#enter(segment);
    else addTally(this.#missed, segment.tally);
  }

  /** These could not be written. */
  onLost(records: readonly SpoolOutput[]): void {
    addTally(this.#missed, tallyOf(records.filter(({ sequence }) => sequence >= this.#next)));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#segment?.leave();
    this.#segment = undefined;
    this.#onClosed();
  }

  /** The file that the next output is in, if it has to be read. */
  #wanted(): Segment | undefined {
    if (this.#block.length > 0) return undefined;
    if (this.#segment === undefined && this.#next < this.#spool.diskEnd) {
      const segment = this.#spool.segments.find(({ last, bytes }) => bytes > 0 && last >= this.#next);
      if (segment !== undefined) this.#enter(segment);
    }
    return this.#segment;
  }

  #onBlock(segment: Segment, { records, next }: Block): void {
    this.#offset = next;
    this.#block = records.filter(({ sequence }) => sequence >= this.#next);
    if (records.length > 0) return;
    segment.leave();
    this.#segment = undefined;
    if (segment.last < this.#next) return;
    // The file cannot be read: what is left of it, and at most all of it, is missed.
    addTally(this.#missed, segment.tally);
    this.#next = segment.last + 1;
  }

  /** The next record in memory: an event, or output. */
  #take(): SpoolRecord | undefined {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    const { events, recent, outputEnd } = this.#spool;
    const output = this.#block[0] ?? recent[lowerBound(recent, this.#next)];
    // What was shown to others may be gone.
    if (output === undefined) this.#next = Math.max(this.#next, outputEnd);
    const event = events[this.#event];
    if (event !== undefined && (output === undefined || event.sequence < output.sequence)) {
      this.#event += 1;
      return event;
    }
    if (output === undefined) return undefined;
    this.#next = output.sequence + 1;
    if (this.#block[0] === output) this.#block.shift();
    return output;
  }

  #enter(segment: Segment): void {
    segment.use();
    this.#segment = segment;
    this.#offset = 0;
  }
}

/** Index of the first record of this sequence or a later one. */
function lowerBound(records: readonly SpoolOutput[], sequence: number): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle] as SpoolOutput).sequence < sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
