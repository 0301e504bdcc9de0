/** Between the connection of a front-end and the session's jobs. */

import type {
  HostSpec, JobControl, JobId, JobMap, JobReport, JobSpec, ProcessEnd, Rank, RankOutcome, SignalName, StciError,
  StdinTo,
} from '@stci/interface';
import type { GatheredMetrics } from '../controller/gather-metrics.js';
import type { HostsChanged, RemoveOptions } from '../hosts/elastic-hosts.js';
import type { HostStatus } from '../hosts/host-status.js';
import type { SessionFaults } from '../injection/fault-contracts.js';
import type { SpoolRecord, Tally } from '../messages/records.js';
import type { TopologyReport } from '../messages/topology-report.js';

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

/** A job that was given to the session, as front-ends see it. */
export interface SessionJob {
  readonly job: JobId;
  readonly stdin: StdinTo;
  readonly map: JobMap;
  follow(follower: JobFollower, options: FollowOptions): RecordReader;
  control(control: JobControl): void;
  /** Calls back when it has ended; the report has neither ranks nor failures. Returns how to cancel that. */
  onEnd(done: (report: JobReport) => void): () => void;
  /** Its input is taken; that of others waits until this one has left. */
  isWriter(follower: JobFollower): boolean;
  /** Returns false if the tools are slower, or the input of another front-end is taken. An empty chunk closes it. */
  writeStdin(follower: JobFollower, chunk: Uint8Array): boolean;
}

export interface SubmitOptions {
  /** Wait for slots that other jobs have. */
  readonly wait: boolean;
  /** What `stci ps` shows. */
  readonly label: string;
}

export interface SubmitEvents {
  onAccepted(job: SessionJob): void;
  onRefused(error: StciError): void;
  /** It waits, for this reason. */
  onWaiting(reason: string): void;
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

/** What a session does for the front-ends that connect to it. Throws StciError. */
export interface SessionService {
  readonly faults: SessionFaults;
  /** Returns how to withdraw it while it waits. */
  submit(spec: JobSpec, options: SubmitOptions, events: SubmitEvents): () => void;
  job(job: JobId): SessionJob;
  status(): SessionStatus;
  ranks(job: JobId, from: Rank): RankPage;
  /** Number 0 begins a survey of all links; its own number asks how far it is. */
  topology(survey: number): TopologyReport;
  signal(job: JobId, signal: SignalName | undefined): void;
  /** Calls back for each agent of the session, then once more. */
  gatherMetrics(gathered: GatheredMetrics): void;
  /** Calls `done` when each of these hosts is up, or has failed. */
  addHosts(hosts: readonly HostSpec[], done: HostsChanged): void;
  /** Calls `done` when each of these hosts has left, or stays. */
  removeHosts(names: readonly string[], options: RemoveOptions, done: HostsChanged): void;
  /** Ends all jobs and the session. `reason`: for its jobs. */
  stop(reason?: string): void;
}
