/**
 * Error manager (STCI paper, II-F.4): failure → record → event → policy → actions. Code that launches, links or watches
 * never decides on recovery; it reports, and the one selected error manager decides.
 */

import type { ErrorRecord } from './errors.js';
import type { HostIndex, Rank } from './ids.js';

export type FailureKind =
  /** A tool ended with a status other than 0. */
  | 'tool-status'
  /** A tool was ended by a signal that the runtime did not send. */
  | 'tool-signal'
  /** A tool could not be started. */
  | 'tool-start'
  /** Processes of tools could not be ended. */
  | 'tool-survived'
  /** An agent did not come up. */
  | 'agent-launch'
  /** An agent that was up is lost. */
  | 'agent-lost'
  /** A deadline of the job passed. */
  | 'timeout'
  /** The user ended the job. */
  | 'interrupt'
  /** The front-end can write no more output. */
  | 'output';

export interface Failure {
  readonly kind: FailureKind;
  readonly error: ErrorRecord;
  readonly host?: HostIndex;
  readonly rank?: Rank;
  /** Wall-clock ms where it happened, if known. */
  readonly wallMs: number;
  /** Exit code of the job if this failure determines it. */
  readonly exitCode: number;
}

/** State of the job, for the manager's decision. */
export interface FailureContext {
  readonly phase: 'launching' | 'running' | 'ending';
  readonly ranksAlive: number;
  readonly failuresBefore: number;
}

/** `end-job`: SIGTERM, grace period, SIGKILL for all that still runs. `go-on`: the other ranks run on. */
export type Decision = { readonly action: 'end-job' | 'go-on' };

/** Module of framework `errmgr` (one): the job-wide part. Pure. */
export interface ErrorManager {
  readonly policy: string;
  decide(failure: Failure, context: FailureContext): Decision;
}
