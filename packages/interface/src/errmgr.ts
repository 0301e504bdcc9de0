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
  /** An agent that was up is lost, with its host. */
  | 'agent-lost'
  /** A job's session agent on a host is lost, or did not come up; the host is not. */
  | 'session-lost'
  /** A deadline of the job passed. */
  | 'timeout'
  /** The user, or a batch system that takes its hosts away, ended the job. */
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

/** Question of the session: the agent of a host did not come up, or is lost. */
export interface SessionContext {
  readonly of: 'session';
  /**
   * `launching`: the session's agents come up for the first time. Later, `running`: a job has ranks on the host;
   * `idle`: none has.
   */
  readonly phase: 'launching' | 'running' | 'idle';
  readonly hostName: string;
  /** Starts of the host's agent, at least 1; after the launch: since it last ran well. */
  readonly starts: number;
  /** Hosts that are up or may still come up, this one not counted. */
  readonly hostsLeft: number;
  /** Spare hosts that are still unused. */
  readonly sparesLeft: number;
}

/** Question of a job: one of its ranks or hosts failed, or the job as a whole. */
export interface JobContext {
  readonly of: 'job';
  readonly phase: 'launching' | 'running' | 'ending';
  readonly ranksAlive: number;
  readonly failuresBefore: number;
  /** Starts so far of the rank; of the ranks of a lost agent, those of the one that has most; 0: no rank is lost. */
  readonly attempt: number;
}

/** Question of a session agent, where a tool runs: the tool failed. */
export interface ToolContext {
  readonly of: 'tool';
  /** Starts of the rank so far, at least 1. */
  readonly attempt: number;
}

/** Question of a root agent, where a session agent ran: it is lost, or did not come up. */
export interface AgentContext {
  readonly of: 'agent';
  /** Starts of the job's session agent on this host so far, at least 1. */
  readonly attempt: number;
}

export type LocalContext = ToolContext | AgentContext;

export type FailureContext = SessionContext | JobContext;

/** Action of a session about the host that failed. */
export type HostAction =
  /** All agents are ended, with every failure found. `reason`: if the failures do not say it. */
  | { readonly type: 'end-launch'; readonly reason?: string }
  /** The next incarnation of its agent is started on the same host. */
  | { readonly type: 'start-again'; readonly afterMs: number }
  /** The agent is started on a spare host, which takes its place. One must be left. */
  | { readonly type: 'use-spare' }
  /** The session goes on without the host; the agents below it are linked to another. */
  | { readonly type: 'leave-out'; readonly reason?: string };

export type RestartAction = { readonly type: 'restart'; readonly afterMs: number };

/**
 * Action of a job. `end-job`: SIGTERM, grace period, SIGKILL for all that still runs. `go-on`: the others run on.
 * `notify`: they do, and their programs are told. `restart`: the ranks that failed are started again after a pause,
 * where they were or, if their host is lost, on another; where none has room, the job ends.
 */
export type JobAction = { readonly type: 'end-job' | 'go-on' | 'notify' } | RestartAction;

/**
 * Action of a session agent about a tool, or of a root agent about a session agent, which tells the controller.
 * `report`: the controller's error manager decides. A session agent that is started again waits for its ranks: that one
 * decides about them.
 */
export type LocalAction = { readonly type: 'report' } | RestartAction;

export type Action = HostAction | JobAction;

/**
 * Module of framework `errmgr` (one), for a session or a job. Pure; its actions are those of who asks.
 *
 * Promises, by which the compliance suite of @stci/compliance names what is broken:
 *
 * - `record`: The registry takes it; version, help and parameters can be shown; `query` depends on its input only.
 * - `policy`: Its policy is named in a few characters that can be printed; `policyOf` answers with such a name, too.
 * - `pure`: The same failure in the same context has the same answer, first or later; neither is changed.
 * - `session`: A session gets exactly one action about its host, and a launch is only ended while launching.
 * - `spare`: A spare host is used only where one is left.
 * - `job`: A job gets at least one action, each of which is one of a job.
 * - `over`: A job whose time is up, that the user has ended, or whose output cannot be written, is ended.
 * - `restart`: `decide` restarts nothing where no rank is lost, or where another start cannot go better.
 * - `toleratesFailures`: Where a job goes on without a rank, `toleratesFailures` says that it may.
 * - `local`: `local` answers with a report or a restart, and with a report where the program cannot be started.
 * - `pause`: A pause is a time, at most an hour.
 * - `bound`: What fails each time is given up after at most a thousand starts.
 */
export interface ErrorManager {
  readonly policy: string;
  /** Of several managers: the policy that decides on this failure. */
  policyOf?(failure: Failure): string;
  /** A job may go on after a failure: failures are reported when they are known. */
  readonly toleratesFailures: boolean;
  /** Of the global manager, at the controller. */
  decide(failure: Failure, context: FailureContext): readonly Action[];
  /**
   * Of the local manager, where it happened: without asking the controller. Absent: all is reported to that. The
   * controller asks its own about each restart of a tool that it is told: where that one would not, the agent is lost.
   */
  local?(failure: Failure, context: LocalContext): LocalAction;
}
