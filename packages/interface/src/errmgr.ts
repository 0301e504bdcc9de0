/**
 * Error manager (STCI paper, II-F.4): failure → record → event → policy → actions. Nothing that launches, links or
 * watches decides recovery; it reports, and the one selected error manager answers.
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
  /** An agent that was up is gone. */
  | 'agent-lost'
  /** A deadline of the job passed. */
  | 'timeout'
  /** The user ended the job. */
  | 'interrupt'
  /** The front-end can take no more output. */
  | 'output';

export interface Failure {
  readonly kind: FailureKind;
  readonly error: ErrorRecord;
  readonly host?: HostIndex;
  readonly rank?: Rank;
  /** Wall-clock ms where it happened, as far as known. */
  readonly wallMs: number;
  /** Exit code of the job if this failure decides it. */
  readonly exitCode: number;
}

/** What the manager may look at; never changed by it. */
export interface FailureContext {
  readonly phase: 'launching' | 'running' | 'ending';
  readonly ranksAlive: number;
  readonly failuresBefore: number;
}

/** `end-job`: TERM, grace, KILL for all that still runs. `go-on`: the rest stays. */
export type Decision = { readonly action: 'end-job' | 'go-on' };

/** Module of framework `errmgr` (one): the global part. Pure. */
export interface ErrorManager {
  readonly policy: string;
  decide(failure: Failure, context: FailureContext): Decision;
}
