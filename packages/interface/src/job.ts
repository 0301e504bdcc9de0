/**
 * Jobs: what the user asked for (specification), where its ranks run (map), and what happened (events, report). All of
 * it is plain data that crosses the wire.
 */

import type { FailureKind, HostAction, SessionContext } from './errmgr.js';
import type { ErrorRecord } from './errors.js';
import type { FailureId, FailureRecord } from './failure.js';
import type { HostIndex, JobId, Rank } from './ids.js';
import type { ParamValue } from './params.js';
import type { ProcessEnd, SignalName } from './platform.js';

/** One host of an allocation. */
export interface HostSpec {
  /** As the user wrote it; unique in an allocation. */
  readonly name: string;
  /** Ranks to place here before the next host is filled, at least 1. */
  readonly slots: number;
  /** True if the user specified the slots: a bound, not a hint. */
  readonly slotsBound: boolean;
  /** User name for the login, if the host list has one. */
  readonly user?: string;
  /** Where it was given: `--host`, `hosts.txt:3`, `this machine`. */
  readonly origin: string;
}

/** The hosts of a session. */
export interface Allocation {
  /** In order: an index into it names a host. */
  readonly hosts: readonly HostSpec[];
  /** Hosts that replace others which do not come up; unused otherwise. */
  readonly spares: readonly HostSpec[];
}

/** One program of a job; MPMD jobs have several. */
export interface AppSpec {
  readonly program: string;
  readonly args: readonly string[];
  /** Number of ranks, at least 1; undefined: determined by the mapping rule. */
  readonly count?: number;
  /** Indices of the session's hosts that may run its ranks; undefined: all. */
  readonly hosts?: readonly HostIndex[];
  /** Added to the job's environment, or overriding it. */
  readonly env: Readonly<Record<string, string>>;
  readonly wdir?: string;
}

/** `slot`: fill a host's slots, then the next host. `node`: one per host in turn. `ppr`: `perHost` ranks on each. */
export type MapBy =
  | { readonly by: 'slot' }
  | { readonly by: 'node' }
  | { readonly by: 'ppr'; readonly perHost: number };

export type StdinTo =
  | { readonly to: 'none' }
  | { readonly to: 'all' }
  | { readonly to: 'rank'; readonly rank: Rank };

export interface JobSpec {
  readonly apps: readonly AppSpec[];
  readonly mapBy: MapBy;
  /** True: more ranks than bound slots are allowed. */
  readonly oversubscribe: boolean;
  /** Complete environment of every tool. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory of tools whose app has none. */
  readonly wdir: string;
  readonly stdin: StdinTo;
  /** Time from the submission to SIGTERM for all tools; undefined: no limit. */
  readonly timeoutMs?: number;
  /** Parameters of scope `job`; absent ones have the session's values. */
  readonly params?: Readonly<Record<string, ParamValue>>;
  /** Time from the submission within which all tools must run. */
  readonly launchTimeoutMs: number;
}

/** A job and the session's hosts on which it is mapped. */
export type AllocatedJob = JobSpec & Pick<Allocation, 'hosts'>;

/** Ranks `first, first + stride, …` of one app, `count` in number, on one host. */
export interface RankRun {
  readonly app: number;
  readonly first: Rank;
  readonly count: number;
  readonly stride: number;
}

export interface HostMap {
  readonly host: HostIndex;
  readonly name: string;
  readonly runs: readonly RankRun[];
}

/** Where each rank runs. Hosts without ranks are listed too: each has an agent. */
export interface JobMap {
  readonly size: number;
  readonly hosts: readonly HostMap[];
}

/** Ranks `first` to `first + count - 1`, which a program of the job has spawned; programs of the job from `app` on. */
export interface Spawn {
  readonly parent: Rank;
  readonly first: Rank;
  readonly count: number;
  readonly app: number;
}

/** What a rank has spawned. */
export interface SpawnRequest {
  readonly parent: Rank;
  /** Further programs of the job, in the order of their ranks; at least one. */
  readonly apps: readonly SpawnedApp[];
  /** Default: the job's. */
  readonly mapBy?: MapBy;
}

export interface SpawnedApp extends Omit<AppSpec, 'hosts'> {
  readonly count: number;
  /** Names of hosts of the job that may run its ranks, with or without their domains; undefined: all. */
  readonly hosts?: readonly string[];
}

/** The ranks; or why there are none. */
export type SpawnDone = (spawn: Spawn | undefined, problem?: string) => void;

/** Place of one rank. */
export interface Placement {
  readonly rank: Rank;
  readonly host: HostIndex;
  readonly app: number;
  /** Position among the ranks of its host, ascending by rank. */
  readonly localRank: number;
}

/**
 * Outcome of a rank. `exited` and `signalled`: it ended by itself; `ended`: the runtime ended it; `failed-start`: it
 * never ran; `lost`: its end is unknown, because its agent is lost or it could not be ended; `not-started`: the job
 * ended before.
 */
export type RankOutcome =
  | 'exited'
  | 'signalled'
  | 'ended'
  | 'failed-start'
  | 'lost'
  | 'not-started';

export interface RankReport {
  readonly rank: Rank;
  readonly host: string;
  readonly app: number;
  /** 0 if it never ran. */
  readonly pid: number;
  readonly outcome: RankOutcome;
  readonly end?: ProcessEnd;
  readonly error?: ErrorRecord;
  /** The failure that it is, or that took it: of its own, of its session agent or of its host. */
  readonly failure?: FailureId;
  /** Wall-clock ms at the host; undefined if it never ran or was lost. */
  readonly startWallMs?: number;
  readonly endWallMs?: number;
  /** Processes that it left behind in its group; the runtime ends them if it can (else: STCI_TOOL_SURVIVED). */
  readonly leftovers: number;
  /** The rank, or a process of its own, read of its standard input; absent: not, or it was given none. */
  readonly readInput?: boolean;
  /** How its earlier attempts ended, in order, where the error manager started it again. */
  readonly earlier?: readonly RankAttempt[];
}

/** An attempt of a rank that was followed by another. */
export type RankAttempt = Omit<RankReport, 'rank' | 'app' | 'earlier'>;

export interface HostDaemons {
  readonly host: string;
  readonly count: number;
}

/** Output of a rank that was dropped before a front-end could show it. */
export interface DroppedOutput {
  readonly rank: Rank;
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: number;
}

export interface JobReport {
  readonly job: JobId;
  /** By the exit rule: see docs/exit-codes.md. */
  readonly exitCode: number;
  /** Message of the failure that determined the exit code; undefined for 0. */
  readonly cause?: ErrorRecord;
  /** Every failure, in order, each counted once. */
  readonly failures: readonly ErrorRecord[];
  readonly ranks: readonly RankReport[];
  /** Hosts on which programs had left processes outside their groups (daemons), which were ended. */
  readonly daemons: readonly HostDaemons[];
  /** By this front-end of a session, where any was. */
  readonly dropped?: readonly DroppedOutput[];
  readonly submitWallMs: number;
  readonly endWallMs: number;
}

/**
 * A host's agent did not come up, or is lost, and what the session does about it. While it is launching, the failure
 * itself was reported before; later, it concerns a running job only where its own failures say so.
 */
export interface RecoveryEvent {
  readonly type: 'recovery';
  readonly phase: SessionContext['phase'];
  readonly host: HostIndex;
  readonly name: string;
  readonly action: Exclude<HostAction['type'], 'end-launch'>;
  readonly error: ErrorRecord;
  /** With `start-again`: after this pause, the start of this number. */
  readonly afterMs?: number;
  readonly starts?: number;
  /** The spare host that replaces it. */
  readonly spare?: string;
  /** With `leave-out`: why nothing else was done, where there is something to say. */
  readonly reason?: string;
}

/** Something happened to a host's agent while the session runs; its failure itself is a record. */
interface MemberChange<Change extends string> {
  readonly type: 'member';
  readonly change: Change;
  readonly host: HostIndex;
  readonly name: string;
  readonly incarnation: number;
  /** At the controller. */
  readonly wallMs: number;
}

export type MemberEvent =
  /** The detector at agent `reporter`, as `root:3`, reports it, and the controller asks whether it is so. */
  | MemberChange<'suspected'> & {
    readonly detector: string; readonly reporter: string; readonly evidence: string;
  }
  /** The host lives after all. */
  | MemberChange<'refuted'>
  /** The tree had lost it, and it is linked again, with those below it: to the agent of this host, or `controller`. */
  | MemberChange<'linked'> & { readonly parent: string };

/** Events of a running job for the front-end, in order. */
export type JobEvent =
  /**
   * Sent again if hosts were replaced or left out before the launch, when ranks move to other hosts, and when the job
   * has got further ones: `spawned`.
   */
  | { readonly type: 'mapped'; readonly map: JobMap; readonly spawned?: Spawn }
  | {
      readonly type: 'host-up';
      readonly host: HostIndex;
      readonly name: string;
      readonly up: number;
      readonly total: number;
      /** Of its agent: from 2 where that was started again. */
      readonly incarnation: number;
    }
  | RecoveryEvent
  | MemberEvent
  | {
      readonly type: 'started';
      readonly rank: Rank;
      readonly host: HostIndex;
      readonly pid: number;
      readonly wallMs: number;
      /** From 2 where it was started again. */
      readonly attempt?: number;
    }
  /** An attempt of a rank has ended; the next, of this number, is started after a pause: on `host`, or elsewhere. */
  | {
      readonly type: 'restarting';
      readonly report: RankReport;
      readonly host?: HostIndex;
      readonly attempt: number;
      readonly afterMs: number;
    }
  | { readonly type: 'running' }
  /** A program has called `mark(name)` of the client library, at its host's `wallMs`. */
  | { readonly type: 'mark'; readonly rank: Rank; readonly host: HostIndex; readonly name: string;
      readonly wallMs: number }
  /** MPI libraries of ranks speak this protocol with their agents: `pmi1`, `pmix`; told once of each. */
  | { readonly type: 'mpi'; readonly protocol: string; readonly version: string }
  | { readonly type: 'exited'; readonly report: RankReport }
  /** `isRecorded`: its record follows within a second, and is told to all. */
  | { readonly type: 'failure'; readonly error: ErrorRecord; readonly isRecorded?: boolean }
  /** Of a failure that was told before, or of one that concerns no rank: once what follows from it has been done. */
  | { readonly type: 'failure-record'; readonly record: FailureRecord }
  /** Something does not work as it was asked for, and the job goes on without it. */
  | { readonly type: 'warning'; readonly text: string }
  /** The runtime has begun to end the job, for this reason. */
  | { readonly type: 'ending'; readonly reason: string; readonly failure?: FailureId }
  | { readonly type: 'ended'; readonly report: JobReport };

/** A request from the front-end about a running job. */
export type JobControl =
  | { readonly verb: 'signal'; readonly signal: SignalName }
  /**
   * SIGTERM, then SIGKILL after the grace period; with `kill`, SIGKILL at once. `cause` determines the report and the
   * exit code, such as the user's interrupt or output that could not be written; the first cause counts.
   */
  | { readonly verb: 'end'; readonly kill: boolean; readonly reason: string; readonly cause?: EndCause };

/** Why the front-end ends a job. */
export interface EndCause {
  readonly kind: FailureKind;
  readonly error: ErrorRecord;
  readonly exitCode: number;
}
