/** What the four sinks (screen, files, gathered, JSON) have in common. */

import type { Rank } from '@stci/interface';
import type { TextCodec } from '@stci/core/iof';

/** What sinks must know of the job. */
export interface OutputFacts {
  readonly hostOf: (rank: Rank) => string;
  readonly appOf: (rank: Rank) => number;
  /** As its program knows it: with --each from 0 on each host. */
  readonly rankOf: (rank: Rank) => Rank;
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
