/** What a job's spool holds: events and chunks of output, numbered together, so that both are read in their order. */

import type { SourceId, StreamName } from '@stci/core/iof';
import type { JobEvent, Rank } from '@stci/interface';

export interface SpoolOutput {
  readonly sequence: number;
  readonly rank: Rank;
  readonly stream: StreamName;
  readonly wallMs: number;
  /** Empty: the stream has ended. */
  readonly chunk: Uint8Array;
}

export interface SpoolEvent {
  readonly sequence: number;
  readonly event: JobEvent;
}

/** Bytes by rank and stream. */
export type Tally = Map<SourceId, number>;

export function addTally(to: Tally, from: ReadonlyMap<SourceId, number>): void {
  for (const [source, bytes] of from) to.set(source, (to.get(source) ?? 0) + bytes);
}
