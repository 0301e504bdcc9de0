/**
 * What a session keeps of a job for its front-ends: events and chunks of output, numbered together, so that both are
 * read in their order; and their form in messages.
 */

import type { ErrorRecord, JobEvent, Rank } from '@stci/interface';
import { chunk } from '../codec/bounds.js';
import { choice, object, oneOf, str, tuple, u32, variant, wallTime, type Infer } from '../codec/shape.js';
import { sourceId, type SourceId, type StreamName } from '../iof/source.js';
import { errorRecord, jobEvents } from './job-shapes.js';

export interface SpoolOutput {
  readonly sequence: number;
  readonly rank: Rank;
  readonly stream: StreamName;
  readonly wallMs: number;
  /** Empty: the stream has ended. */
  readonly chunk: Uint8Array;
}

/** A failure of the job's report: the report in `ended` has neither ranks nor failures, which are told before. */
export interface Reported {
  readonly type: 'reported';
  readonly error: ErrorRecord;
}

export interface SpoolEvent {
  readonly sequence: number;
  readonly event: JobEvent | Reported;
}

export type SpoolRecord = SpoolEvent | SpoolOutput;

/** Bytes by rank and stream. */
export type Tally = Map<SourceId, number>;

/** Of a job's label: it is in every answer about the session's jobs. */
export const LABEL_CHARS_MAX = 1024;
export const jobLabel = str(LABEL_CHARS_MAX);

const output = tuple(u32, wallTime, chunk);
const event = variant<'type', JobEvent | Reported>('type', {
  ...jobEvents, reported: object<Reported>({ type: oneOf('reported'), error: errorRecord }),
});

/** `[source, wallMs, chunk]`, or an event. */
export const wireRecord = choice([output, event], (value) => (Array.isArray(value) ? output : event));
export type WireRecord = Infer<typeof wireRecord>;

export function toWire(record: SpoolRecord): WireRecord {
  return 'event' in record ? record.event : [sourceId(record.rank, record.stream), record.wallMs, record.chunk];
}

/** What a record counts for besides its contents. */
const RECORD_BYTES = 64;
const NUMBER_BYTES = 8;

/** What a record takes of a front-end's credit, and of a message: the same at both ends of a connection. */
export function costOf(record: WireRecord): number {
  return RECORD_BYTES + (Array.isArray(record) ? (record[2] as Uint8Array).length : sizeOf(record));
}

/** What a chunk of input counts for while it is under way or waits, as many small ones take more than their bytes. */
export function inputCost({ length }: Uint8Array): number {
  return RECORD_BYTES + length;
}

/** About its bytes in a message. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object') return NUMBER_BYTES;
  let bytes = NUMBER_BYTES;
  for (const [key, field] of Object.entries(value ?? {})) {
    if (field !== undefined && field !== null) bytes += key.length + sizeOf(field); // Absent, at the other end.
  }
  return bytes;
}
