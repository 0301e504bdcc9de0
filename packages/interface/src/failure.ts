/**
 * Who takes part in a session, and failures of agents and tools as they are told to all who survive (STCI paper, II-F;
 * RDaemon#, 4): what a detector finds, a notifier carries, and a program is told of.
 */

import type { Address, HostIndex, JobId, Rank } from './ids.js';
import type { Position } from './topology.js';

/** An agent at a position, 0 the controller, host + 1 its root agent, as it was started; see Topology. */
export interface MemberId {
  readonly position: Position;
  /** 1, 2, …; 0 for the controller. */
  readonly incarnation: number;
}

/**
 * The agents that take part, as one of them knows them: the same to all its detectors and notifiers, which are told of
 * each change right after it. The controller is a member always: an agent that does not hear it is cut off itself.
 */
export interface Members {
  /** Positions 0..size-1 are, or were, members' at some time, or nobody's. */
  readonly size: number;
  /** Those of them at which nobody lives. */
  readonly absent: ReadonlySet<Position>;
  /** Number of those that live, this agent included. */
  readonly alive: number;
  /** Those that live, by position. */
  living(): readonly MemberId[];
  /** The living member at this position. */
  at(position: Position): MemberId | undefined;
  /** It lives. */
  has(member: MemberId): boolean;
  /** It is dead, has left, or was replaced; one that is not known yet is not. */
  isGone(member: MemberId): boolean;
}

/** What failed: the root agent of a host, with all that it runs; a job's session agent; or a job's ranks. */
export type FailedSubject =
  | { readonly kind: 'host'; readonly host: HostIndex; readonly incarnation: number }
  | { readonly kind: 'session-agent'; readonly host: HostIndex; readonly incarnation: number; readonly job: JobId;
    /** 1, or more if the job has lost session agents there before. */ readonly attempt: number }
  | { readonly kind: 'tool'; readonly host: HostIndex; readonly job: JobId; readonly rank: Rank;
    /** 1, or more if the rank was started again. */ readonly attempt: number };

/**
 * How it is known. `exited`, `signalled`: the operating system said so; `closed`: a link ended without goodbye;
 * `silent`: nothing was heard for too long; `watchdog`: a tool did not give the sign of life that it had promised;
 * `unreachable`: nobody could link to it again; `malformed`: it broke the protocol; `not-started`: a tool or an
 * agent could not be started.
 */
export type FailureCause =
  | 'exited' | 'signalled' | 'closed' | 'silent' | 'watchdog' | 'unreachable' | 'malformed'
  | 'not-started';

/** The time between a failure and its report that a detector promises, ms. */
export interface DetectionInterval {
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * A failure's id, which is the subject's: whoever finds the failure gives it the same, once for each incarnation of a
 * host's agent, and for each attempt of a rank or a session agent. Unique in a session.
 */
export type FailureId = string & { readonly __brand?: 'FailureId' };

/** What one agent found of a failure, as a notifier carries it. Times are wall-clock ms of the host that took them. */
export interface Evidence {
  readonly reporter: MemberId;
  readonly subject: FailedSubject;
  readonly cause: FailureCause;
  /** For people: `no heartbeat for 1003 ms`. */
  readonly evidence: string;
  /** Component that found it. */
  readonly detector: string;
  /** When it failed, where that is known: by the operating system. */
  readonly failedWallMs?: number;
  /** Last sign of life, where that is known: it failed after it. */
  readonly heardWallMs?: number;
  readonly suspectedWallMs: number;
  readonly confirmedWallMs: number;
  /** What the detector promised for a failure of this cause. */
  readonly promised?: DetectionInterval;
}

/** All that is known of a failure once what follows from it has been done. */
export interface FailureRecord extends Omit<Evidence, 'reporter'> {
  readonly failure: FailureId;
  /** Name of its host. */
  readonly hostName: string;
  /** Who reported it first, and who else did: names of agents, as `root:3`. */
  readonly reporter: string;
  readonly confirmers: readonly string[];
  /** When the last of so many agents was told; without a time, only the controller was. */
  readonly notified: number;
  readonly notifiedWallMs?: number;
  readonly lostRanks: readonly { readonly job: JobId; readonly ranks: readonly Rank[] }[];
  /** Names of hosts that were linked to the agents of others because of it. */
  readonly newParents: readonly { readonly host: string; readonly parent: string }[];
  /** What the error manager decided. */
  readonly policy: readonly string[];
  /**
   * From the failure to its confirmation, where both are known by one clock; where the time of the failure is not
   * known, from the last sign of life: at most so long.
   */
  readonly achievedMs?: number;
  readonly achievedMaxMs?: number;
}

/** The subject's name, as in messages: `host 3`, `session agent on host 3 of job 2`, `rank 5 of job 2`. */
export function subjectName(subject: FailedSubject): string {
  const attempt = subject.kind !== 'host' && subject.attempt > 1 ? `, attempt ${subject.attempt}` : '';
  switch (subject.kind) {
    case 'host':
      return `host ${subject.host}`;
    case 'session-agent':
      return `session agent on host ${subject.host} of job ${subject.job}${attempt}`;
    case 'tool':
      return `rank ${subject.rank} of job ${subject.job}${attempt}`;
  }
}

export function failureId(subject: FailedSubject): FailureId {
  switch (subject.kind) {
    case 'host':
      return `host ${subject.host}#${subject.incarnation}`;
    case 'session-agent':
      return `session ${subject.job} ${subject.host}#${subject.attempt}`;
    case 'tool':
      return `tool ${subject.job} ${subject.rank}#${subject.attempt}`;
  }
}

/** Addresses of those who wait for others, for detectors that probe on demand. */
export type WaitedFor = Address | 'any';
