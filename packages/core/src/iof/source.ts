/**
 * Where a chunk of output comes from. Inside iof a source is one number, rank and stream packed, so that maps and
 * arrays by source are cheap.
 */

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
