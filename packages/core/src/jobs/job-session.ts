/** What a job at the controller and its session know of each other, and parts of the job of it. */

import type {
  ErrorRecord, Failure, FailureId, HostIndex, HostSpec, JobContext, JobId, JobSpec, Params, Rank, StciError,
} from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import type { Scope } from '../event/scope.js';
import type { HostFailure } from '../job/exit-rule.js';
import type { Ledger, RankEnd } from '../job/ledger.js';
import type { MembershipTable } from '../membership/table.js';
import type { Launch } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { ServedHooks } from '../service/served-hooks.js';
import type { JobFront } from './job-front.js';
import type { JobHosts } from './job-hosts.js';

/** What a job tells of failures, for their records. */
export interface JobFailures {
  /** Detectors watch the agents: the record of a host is told to the user. */
  readonly tellsHosts: boolean;
  /** An attempt of a rank failed by itself. */
  onRankFailed(job: JobId, failure: Failure, end: RankEnd, attempt: number): void;
  /** Ranks were lost with their host, or with the job's session agent there: its `attempt`. Returns its id. */
  onRanksLost(job: JobId, loss: HostFailure, ranks: readonly Rank[], attempt: number): FailureId;
  /** What the error manager decided. */
  onDecision(failure: FailureId | undefined, decision: string): void;
  /** The job is about to be over, and is when what is recorded has been told: then calls `done`, once. */
  onEnding(job: JobId, done: () => void): void;
}

/** The slots of a session's hosts. */
export interface JobSlots {
  /** By host, slots that other jobs have. */
  taken(job: JobId): readonly number[];
  /** ... of which those jobs do not end before this one: they wait for slots that it has, or that one of them has. */
  held(job: JobId): readonly number[];
  /** Ranks have ended, or are given up: others, or whole jobs, may wait for their slots. */
  onFree(): void;
}

/** What a job uses of its session. */
export interface JobSession {
  readonly node: AgentNode;
  /** Until it ends. */
  readonly holds: Scope;
  readonly scope: AgentScope;
  /** The session has jobs of others, on hosts that may be no concern of this one. */
  readonly stays: boolean;
  /** Agents were told to end, and it is not known yet why: no job is over meanwhile. */
  readonly allocationEnd: { readonly isPending: boolean };
  /** A job has waited too long for its hosts. Names of those that are not up; in a session of one job they failed. */
  takeOverdue(): readonly string[];
  /** Its hosts as they are now; once it is open. */
  readonly members: Pick<MembershipTable, 'isUsable' | 'isDoubted' | 'isRestarting' | 'get' | 'hosts' | 'nameOf'>;
  readonly slots: JobSlots;
  /** Sends a launch down the boot tree. Returns why a part of it cannot be sent. */
  passLaunch(launch: Launch, job: JobId): StciError | undefined;
  /** Records of its failures. */
  readonly failures: JobFailures;
  /** The job is over: its report has been told. `launched`: it may have session agents. */
  onOver(job: JobId, launched: boolean): void;
}

export type JobPhase = JobContext['phase'] | 'over';

/** Where further ranks of a job can be, and their starts there. */
interface RankStarts {
  isUsable(host: HostIndex): boolean;
  slotsOn(host: HostIndex): number;
  start(host: HostIndex, ranks: readonly Rank[]): void;
}

/** A job, as its parts that start ranks see it. */
export interface RecoveringJob {
  readonly session: JobSession;
  /** Until it is over. */
  readonly holds: Scope;
  readonly job: JobId;
  /** Its own. */
  readonly params: Params;
  /** Another one with another map, before it is launched. */
  readonly ledger: Ledger;
  readonly phase: JobPhase;
  /** It has been sent to its hosts. */
  readonly isLaunched: boolean;
  readonly hosts: JobHosts;
  readonly front: Pick<JobFront, 'emit' | 'check' | 'onHostLost' | 'onHostJoined'>;
  readonly recovery: { readonly relocation: RankStarts };
  readonly services: Pick<ServedHooks, 'size' | 'onRestarting' | 'onHostLost'>;
  /** The launch of all hosts, with the ranks as they are placed now. */
  launchNow(of?: Pick<Ledger, 'spec' | 'map' | 'spawns'>): Launch;
  /** A session agent was started there by the launch of the whole job. */
  hasFirstAgent(host: HostIndex): boolean;
  /** Whether ranks wait for slots that other jobs have. */
  awaitSlots(isWaiting: boolean): void;
  onExited(host: HostIndex, ends: readonly RankEnd[]): void;
  /** Tells the outcome of a rank, which the ledger has. */
  tellExit(rank: Rank): void;
  record(found: Failure): void;
  end(error: Pick<ErrorRecord, 'message' | 'failure'>): void;
  checkOver(): void;
}

export interface ControllerJobInit {
  readonly session: JobSession;
  readonly job: JobId;
  readonly spec: JobSpec;
  /** Of the session, as they are now. */
  readonly hosts: readonly HostSpec[];
  /** Hosts that the job cannot use. */
  readonly leftOut: ReadonlySet<HostIndex>;
}
