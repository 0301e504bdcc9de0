/**
 * Where output goes: one interface, four ways (screen, files, gathered, JSON). A sink takes chunks as they come from
 * the front-end agent and releases each once it is written or safely put away.
 */

import type { Rank } from '@stci/interface';
import type { StreamName, TextCodec } from '@stci/core/iof';

export interface OutputSink {
  /** Place and process of a rank, told before its output as a rule, but not surely. */
  started(rank: Rank, pid: number): void;
  push(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void;
  end(rank: Rank, stream: StreamName): void;
  /** The job has ended: shows the rest; calls back when all is written. */
  finish(done: () => void): void;
  /** Ends a line that stands open on the screen. */
  breakLine(): void;
}

/** What sinks must know of the job. */
export interface OutputFacts {
  readonly hostOf: (rank: Rank) => string;
  readonly appOf: (rank: Rank) => number;
  readonly size: number;
  readonly lineBytesMax: number;
}

/** Bound on all unfinished lines of one place together. */
export const HELD_BYTES_MAX = 64 << 20;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const nodeCodec: TextCodec = {
  encode: (text) => Buffer.from(text),
  decode: (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  },
  base64: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
};
