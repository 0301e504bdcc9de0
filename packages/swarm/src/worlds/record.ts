/** What a simulated `stcirun` received and printed; checkers compare it with what the kernel knows. */

import type { JobEvent, JobReport, Rank } from '@stci/interface';

/** Bytes of one stream of one rank, as they arrived. */
export interface StreamRecord {
  readonly chunks: Uint8Array[];
  bytes: number;
  /** How often its end was reported. */
  ends: number;
  /** Bytes that were shown for good. */
  released: number;
  /** Bytes that came after the end. */
  lateBytes: number;
}

export class JobRecord {
  readonly events: JobEvent[] = [];
  /** By `RANK/STREAM`. */
  readonly streams = new Map<string, StreamRecord>();
  /** As the controller ended the job. */
  report: JobReport | undefined;
  reportMs: number | undefined;
  stoppedMs: number | undefined;
  /** When one that attached was told of its job, which the session did some time before. */
  acceptedMs: number | undefined;
  /** Calls of the runtime after `onStopped`. */
  lateCalls = 0;
  unreleasedBytes = 0;
  unreleasedBytesMax = 0;
  /** What the run showed: messages on standard error, `--json` on standard output, its exit reports, its exit code. */
  readonly messages: string[] = [];
  readonly jsonLines: string[] = [];
  readonly exitReports: string[] = [];
  exitCode: number | undefined;
  /** Standard output was closed, failed, or was abandoned at the second interrupt: it takes no JSON any more. */
  isScreenAbandoned = false;
}

/** The stream's own record, made where there is none yet. */
export function streamRecord({ streams }: JobRecord, rank: Rank, name: 'stdout' | 'stderr'): StreamRecord {
  const key = `${rank}/${name}`;
  let stream = streams.get(key);
  if (stream === undefined) streams.set(key, (stream = { chunks: [], bytes: 0, ends: 0, released: 0, lateBytes: 0 }));
  return stream;
}
