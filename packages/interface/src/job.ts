/**
 * Jobs: what the user asked for (spec), where its ranks go (map), and what became of them (events, report). All of
 * it is plain data that crosses the wire.
 */

import type { FailureKind } from './errmgr.js';
import type { ErrorRecord } from './errors.js';
import type { HostIndex, JobId, Rank } from './ids.js';
import type { ProcessEnd, SignalName } from './platform.js';

/** One host of an allocation. */
export interface HostSpec {
  /** As the user wrote it; unique within an allocation. */
  readonly name: string;
  /** Ranks it takes before the next host is filled, at least 1. */
  readonly slots: number;
  /** True where the user named the slots: a bound, not a hint. */
  readonly slotsBound: boolean;
  /** Login name, where the host list gave one. */
  readonly user?: string;
  /** Where it was named: `--host`, `hosts.txt:3`, `this machine`. */
  readonly origin: string;
}

/** One program of a job; MPMD jobs have several. */
export interface AppSpec {
  readonly program: string;
  readonly args: readonly string[];
  /** Number of ranks, at least 1; undefined: as the mapping rule says. */
  readonly count?: number;
  /** Hosts by index that may take its ranks; undefined: all. */
  readonly hosts?: readonly HostIndex[];
  /** Added to, or put over, the job's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly wdir?: string;
}

/** `slot`: fill a host's slots, then the next. `node`: one a host in turn. `ppr`: `perHost` ranks on each. */
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
  readonly hosts: readonly HostSpec[];
  /** Hosts that take the place of others which do not come up; unused otherwise. */
  readonly spares?: readonly HostSpec[];
  readonly mapBy: MapBy;
  /** True: more ranks than bound slots are allowed. */
  readonly oversubscribe: boolean;
  /** Environment of every tool, complete. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory of tools whose app names none. */
  readonly wdir: string;
  readonly stdin: StdinTo;
  /** TERM to all tools after so long since the job was submitted; undefined: no limit. */
  readonly timeoutMs?: number;
  /** All tools must run within this time of the submit. */
  readonly launchTimeoutMs: number;
}

/** Ranks `first, first + stride, …` of one app, `count` of them, on one host. */
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

/** Where each rank goes. Hosts without ranks are listed too: they still carry an agent. */
export interface JobMap {
  readonly size: number;
  readonly hosts: readonly HostMap[];
}

/** Where one rank is. */
export interface Placement {
  readonly rank: Rank;
  readonly host: HostIndex;
  readonly app: number;
  /** Position among the ranks of its host, ascending by rank. */
  readonly localRank: number;
}

/**
 * What became of a rank. `exited` and `signalled` are its own end; `ended` was ended by the runtime; `failed-start`
 * never ran; `lost`: its true end is not known, for its agent is gone or it could not be ended; `not-started`: the job
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
  /** 0 where it never ran. */
  readonly pid: number;
  readonly outcome: RankOutcome;
  readonly end?: ProcessEnd;
  readonly error?: ErrorRecord;
  /** Wall-clock ms at the host; undefined where it never ran or was lost. */
  readonly startWallMs?: number;
  readonly endWallMs?: number;
  /** Processes of its group that it left behind, which the runtime ends if it can (else: STCI_TOOL_SURVIVED). */
  readonly leftovers: number;
}

export interface HostDaemons {
  readonly host: string;
  readonly count: number;
}

export interface JobReport {
  readonly job: JobId;
  /** By the exit rule: see docs/exit-codes.md. */
  readonly exitCode: number;
  /** The failure that decided the exit code, in words; undefined for 0. */
  readonly cause?: ErrorRecord;
  /** Every failure that was found, first one first, each counted once. */
  readonly failures: readonly ErrorRecord[];
  readonly ranks: readonly RankReport[];
  /** Hosts on which programs had left processes outside of their groups (daemons), which were found and ended. */
  readonly daemons: readonly HostDaemons[];
  readonly submitWallMs: number;
  readonly endWallMs: number;
}

/** What the front-end is told while a job runs, in order. */
export type JobEvent =
  /** Told again where hosts were replaced or left out before the launch. */
  | { readonly type: 'mapped'; readonly map: JobMap }
  | {
      readonly type: 'host-up';
      readonly host: HostIndex;
      readonly name: string;
      readonly up: number;
      readonly total: number;
    }
  /** An agent did not come up, and what is done about it; the failure itself was told before. */
  | {
      readonly type: 'bootstrap';
      readonly host: HostIndex;
      readonly name: string;
      readonly decision: 'retry' | 'spare' | 'shrink';
      /** The spare host that takes the place. */
      readonly spare?: string;
    }
  | {
      readonly type: 'started';
      readonly rank: Rank;
      readonly host: HostIndex;
      readonly pid: number;
      readonly wallMs: number;
    }
  | { readonly type: 'running' }
  | { readonly type: 'exited'; readonly report: RankReport }
  | { readonly type: 'failure'; readonly error: ErrorRecord }
  /** The runtime has begun to end the job, and why. */
  | { readonly type: 'ending'; readonly reason: string }
  | { readonly type: 'ended'; readonly report: JobReport };

/** A request from the front-end about a running job. */
export type JobControl =
  | { readonly verb: 'signal'; readonly signal: SignalName }
  /**
   * TERM, then KILL after the grace; at once KILL where `kill`. `cause` is what the report says and exits with, such
   * as the user's interrupt or output that could not be written; the first cause counts.
   */
  | { readonly verb: 'end'; readonly kill: boolean; readonly reason: string; readonly cause?: EndCause };

/** Why the front-end ends a job. */
export interface EndCause {
  readonly kind: FailureKind;
  readonly error: ErrorRecord;
  readonly exitCode: number;
}
