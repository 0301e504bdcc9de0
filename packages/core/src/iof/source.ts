/** Source of a chunk of output: rank and stream packed into one number, so that maps and arrays by source are cheap. */

import type { Rank } from '@stci/interface';

export type StreamName = 'stdout' | 'stderr';

/** 2 · rank for stdout, 2 · rank + 1 for stderr. */
export type SourceId = number;

export function sourceId(rank: Rank, stream: StreamName): SourceId {
  return rank * 2 + (stream === 'stderr' ? 1 : 0);
}

export function sourceRank(source: SourceId): Rank {
  return Math.floor(source / 2);
}

export function sourceStream(source: SourceId): StreamName {
  return source % 2 === 1 ? 'stderr' : 'stdout';
}
