/** Between the connection of a front-end and the session's jobs. */

import type { JobId, ProcessEnd, Rank, RankOutcome } from '@stci/interface';
import type { HostStatus } from '../hosts/host-status.js';
import type { SpoolRecord, Tally } from '../messages/records.js';

/** A front-end that follows a job. */
export interface JobFollower {
  /** There are records to read. */
  onMore(): void;
  /** There is room for input again. */
  onStdinDrain(): void;
  onStdinClosed(): void;
}

export interface RecordBatch {
  readonly records: readonly SpoolRecord[];
  /** Output that was dropped before it could be read, since the last batch. */
  readonly missed: Tally;
}

/** One follower's way through a job's records. */
export interface RecordReader {
  /** There is no more to read now. */
  readonly isAtEnd: boolean;
  /** About so many bytes of records. Not called again before `done`. */
  read(bytesMax: number, done: (batch: RecordBatch) => void): void;
  /** The follower has shown so much more of what was read, from the oldest on without a gap. */
  acknowledge(bytes: number): void;
  close(): void;
}

export interface FollowOptions {
  /** From the oldest output that is kept; else from where the last front-end that left had got to. */
  readonly all: boolean;
  /** It writes standard input, if no other does. */
  readonly input: boolean;
}

export type JobState = 'waiting' | 'starting' | 'running' | 'ending' | 'ended';

/** A row of `stci ps`. */
export interface JobStatus {
  /** 0 while it waits. */
  readonly job: JobId;
  readonly state: JobState;
  readonly label: string;
  readonly ranks: number;
  readonly running: number;
  readonly hosts: number;
  readonly submitWallMs: number;
  readonly endWallMs?: number | undefined;
  readonly exitCode?: number | undefined;
  /** Front-ends that follow it. */
  readonly followers: number;
  /** Bytes of output, and of these dropped before any front-end was sent them. */
  readonly outputBytes: number;
  readonly droppedBytes: number;
}

export interface RankStatus {
  readonly rank: Rank;
  readonly host: string;
  readonly pid: number;
  readonly state: RankOutcome | 'running' | 'starting' | 'restarting';
  readonly end?: ProcessEnd | undefined;
}

/** Some ranks of a job; `next`: the rank from which the others are to be asked for. */
export interface RankPage {
  readonly ranks: readonly RankStatus[];
  readonly next?: Rank | undefined;
}

export interface SessionStatus {
  readonly name: string;
  readonly version: string;
  readonly isStopping: boolean;
  /** A failure does not end a job: the policy of its error manager. */
  readonly continues: boolean;
  /** How its agents are started: name of the launcherproc. */
  readonly launcher: string;
  readonly hosts: readonly HostStatus[];
  readonly spares: readonly string[];
  readonly jobs: readonly JobStatus[];
}
