/**
 * The spool of a job in a session: its events, and its output until front-ends have shown it, the latest also then, for
 * who wants to see it again. Events stay in memory,
 * within a bound. The latest output is in memory, too, so that a short job never touches the disk; older output is in
 * files of about equal size, of which the oldest is dropped at the bound. Every front-end reads with a cursor of its
 * own, so that a slow one holds up no other.
 */

import type { Rank } from '@stci/interface';
import type { StreamName } from '../iof/source.js';
import { costOf, type SpoolEvent, type SpoolOutput, type Tally } from '../messages/records.js';
import type { SpoolFiles } from './files.js';
import { SpoolCursor, type CursorPlace, type SpoolContents } from './spool-cursor.js';
import { addTally, Segment, tallyOf } from './spool-segment.js';

/** Events of a job in memory; beyond, those of these types, of which there may be any number, are not kept. */
const EVENT_BYTES_MAX = 32 << 20;
const UNBOUNDED: readonly SpoolEvent['event']['type'][] = ['member', 'mark'];

/** Files at the bound. */
const SEGMENTS = 8;
/** Output in memory; what exceeds it is written to the disk. */
const MEMORY_BYTES = 64 * 1024;
/** While front-ends read: output that they have shown is dropped instead of written. */
const FOLLOWED_BYTES = 4 << 20;
const RECORD_BYTES = 64;
/** Longest single write, in bytes and in records. */
const WRITE_BYTES = 1 << 20;
const WRITE_RECORDS = 256;

export interface SpoolParams {
  readonly files: SpoolFiles;
  /** Bound of the output on the disk. */
  readonly bytesMax: number;
  /** There are new records. */
  readonly onMore?: () => void;
  /** All before this sequence has been shown; `isFollowed`: by front-ends that are there. `sent`: to one of them. */
  readonly shown?: () => { readonly before: number; readonly isFollowed: boolean; readonly sent: number };
  /** Asked at the bound: true to let the job's tools wait for front-ends, false to drop the oldest output. */
  readonly mayWait?: (oldestEnd: number) => boolean;
}

export class Spool implements SpoolContents {
  readonly events: SpoolEvent[] = [];
  readonly segments: Segment[] = [];
  readonly recent: SpoolOutput[] = [];
  outputEnd = 0;
  diskEnd = 0;
  eventBytes = 0;
  /** Of output that was dropped before any front-end was sent it. */
  unseenBytes = 0;
  readonly #params: SpoolParams;
  readonly #cursors = new Set<SpoolCursor>();
  readonly #dropped: Tally = new Map();
  /** Of output that was shown and is not kept. */
  #goneBytes = 0;
  /** Callbacks of output for which there is no room yet. */
  #waiting: (() => void)[] = [];
  #sequence = 0;
  #recentBytes = 0;
  #isWriting = false;
  #isClosed = false;
  /** Events are not kept any more, which has been told. */
  #isFull = false;

  constructor(params: SpoolParams) {
    this.#params = params;
  }

  /** All that was dropped. */
  get dropped(): ReadonlyMap<number, number> {
    return this.#dropped;
  }

  event(event: SpoolEvent['event']): void {
    if (this.eventBytes > EVENT_BYTES_MAX && UNBOUNDED.includes(event.type)) {
      if (this.#isFull) return;
      this.#isFull = true;
      const text = `The job has ${EVENT_BYTES_MAX >> 20} MiB of events: further marks of its ranks, and suspicions of `
        + 'hosts, are not told any more.';
      return this.event({ type: 'warning', text });
    }
    this.events.push({ sequence: this.#sequence++, event });
    this.eventBytes += costOf(event);
    this.#params.onMore?.();
  }

  /** `release` is called when there is room for more. */
  output(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    this.recent.push({ sequence: this.#sequence++, rank, stream, wallMs, chunk });
    this.outputEnd = this.#sequence;
    this.#recentBytes += costOfOutput(chunk);
    this.#waiting.push(release);
    this.#params.onMore?.();
    this.advance();
  }

  /** A reader of all events, and of all output that is kept. */
  open(): SpoolCursor {
    return this.#open(0, new Map(this.#dropped));
  }

  /** The same for who may have seen it: told first how much was shown and is not kept. */
  openAgain(): SpoolCursor {
    const text = `${this.#goneBytes} bytes of output were shown before and are not kept: `
      + 'what follows is what came later';
    const cursor = this.open();
    if (this.#goneBytes > 0) cursor.tellFirst({ sequence: -1, event: { type: 'warning', text } });
    return cursor;
  }

  /** A reader of all events, and of the output from a place on. */
  openAt({ position, missed }: CursorPlace): SpoolCursor {
    return this.#open(position, new Map(missed));
  }

  /** Drops, writes and releases as far as possible; to be called when `mayWait` may answer otherwise. */
  advance(): void {
    if (this.#isClosed) return;
    const oldest = this.segments[0];
    const isFull = this.segments.length > 1 && this.diskBytes > this.#params.bytesMax;
    const isHeld = isFull && this.#params.mayWait?.((oldest as Segment).last + 1) === true;
    if (isFull && !isHeld) this.#drop(this.segments.shift() as Segment, false);
    const bytesMax = this.#dropShown() ? FOLLOWED_BYTES : MEMORY_BYTES;
    if (this.#recentBytes > bytesMax && !this.#isWriting) this.#write();
    if (!isHeld && this.#recentBytes <= bytesMax) this.#release();
  }

  /** Whether front-ends read. */
  #dropShown(): boolean {
    const { before, isFollowed } = this.#params.shown?.() ?? { before: 0, isFollowed: false };
    if (this.#isWriting) return isFollowed;
    let count = 0;
    for (const { sequence, chunk } of this.recent) {
      if (sequence >= before || this.#recentBytes <= MEMORY_BYTES) break;
      this.#recentBytes -= costOfOutput(chunk);
      this.#goneBytes += chunk.length;
      count += 1;
    }
    this.recent.splice(0, count);
    // What is kept has no holes: what is older was shown, too.
    if (count > 0) for (const segment of this.segments.splice(0)) this.#drop(segment, true);
    return isFollowed;
  }

  /** Drops all output: it was shown; or it was not, and is counted. */
  discard(isShown: boolean): void {
    if (!isShown) this.#lose(this.recent);
    else for (const { chunk } of this.recent) this.#goneBytes += chunk.length;
    for (const segment of this.segments.splice(0)) this.#drop(segment, isShown);
    this.recent.splice(0);
    this.#recentBytes = 0;
  }

  /** Removes the files. */
  close(): void {
    this.#isClosed = true;
    for (const cursor of this.#cursors) cursor.close();
    this.#params.files.remove();
    this.#release();
  }

  get diskBytes(): number {
    return this.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #open(position: number, missed: Tally): SpoolCursor {
    const cursor = new SpoolCursor(this, position, missed, () => this.#cursors.delete(cursor));
    this.#cursors.add(cursor);
    return cursor;
  }

  #release(): void {
    for (const release of this.#waiting.splice(0)) release();
  }

  #write(): void {
    this.#isWriting = true;
    const batch = this.#oldestRecords();
    const done = (error?: unknown): void => {
      if (isNoSpace(error) && this.#makeSpace()) return; // The batch is written again.
      if (error === undefined) this.diskEnd = (batch.at(-1) as SpoolOutput).sequence + 1;
      else this.#lose(batch);
      this.recent.splice(0, batch.length);
      for (const { chunk } of batch) this.#recentBytes -= costOfOutput(chunk);
      this.#isWriting = false;
      this.advance();
    };
    try {
      this.#segment().append(batch, done);
    } catch (error) {
      done(error);
    }
  }

  /** The disk is full before the bound: the oldest goes here, too. False where there is nothing older. */
  #makeSpace(): boolean {
    const [oldest] = this.segments;
    if (oldest === undefined || oldest.bytes === 0) return false;
    this.#isWriting = false;
    if (this.#params.mayWait?.(oldest.last + 1) === true) return true;
    this.#drop(oldest, false);
    this.segments.shift();
    this.advance();
    return true;
  }

  /** These are dropped before they were written, and counted. */
  #lose(records: readonly SpoolOutput[]): void {
    addTally(this.#dropped, tallyOf(records));
    const sent = this.#params.shown?.().sent ?? 0;
    for (const { sequence, chunk } of records) if (sequence >= sent) this.unseenBytes += chunk.length;
    for (const cursor of this.#cursors) cursor.onLost(records);
  }

  #oldestRecords(): readonly SpoolOutput[] {
    let bytes = 0;
    const last = this.recent.findIndex(({ chunk }) => (bytes += chunk.length) >= WRITE_BYTES);
    return this.recent.slice(0, Math.min(WRITE_RECORDS, last < 0 ? Infinity : last + 1));
  }

  /** The one to write on. */
  #segment(): Segment {
    const last = this.segments.at(-1);
    if (last !== undefined && last.bytes < this.#params.bytesMax / SEGMENTS) return last;
    const segment = new Segment(this.#params.files.next());
    this.segments.push(segment);
    return segment;
  }

  #drop(segment: Segment, isShown: boolean): void {
    if (!isShown) addTally(this.#dropped, segment.tally);
    else for (const bytes of segment.tally.values()) this.#goneBytes += bytes;
    // One that a front-end is in the middle of is read to its end.
    const isUnseen = !isShown && segment.first >= (this.#params.shown?.().sent ?? 0);
    if (isUnseen) for (const bytes of segment.tally.values()) this.unseenBytes += bytes;
    for (const cursor of this.#cursors) if (!isShown) cursor.onDropped(segment);
    segment.remove();
  }
}

function isNoSpace(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as { readonly code?: string } | undefined)?.code ?? '');
}

/** With what a record itself takes. */
function costOfOutput(chunk: Uint8Array): number {
  return chunk.length + RECORD_BYTES;
}
