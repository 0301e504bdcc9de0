/**
 * Failures at the controller: the records of all, whoever found them. Whether detectors watch agents, their reports are
 * the arbiter's, which is loaded then.
 */

import {
  StciError, bootPosition, failureId, rootAddress, type Evidence, type FailedSubject, type Failure,
  type FailureId, type HostIndex, type JobId, type MemberId, type Rank, type RecoveryEvent,
} from '@stci/interface';
import type { HostFailure } from '../job/exit-rule.js';
import type { RankEnd } from '../job/ledger.js';
import { RANK_CAUSES } from '../jobs/job-failures.js';
import type { JobFailures } from '../jobs/job-session.js';
import type { LossEvidence, LossReport } from '../membership/mender.js';
import type { MembershipTable, ParentHost } from '../membership/table.js';
import { countFailure } from '../metrics/failures.js';
import type { AgentOfJob } from '../messages/collected.js';
import { recoveryText } from '../run/recovery-text.js';
import { arbiterCode } from './arbiter-code.js';
import { lossFacts, startCause, evidenceOf } from './loss-evidence.js';
import type { Arbiter } from './arbiter.js';
import { ARBITER_MESSAGES, type ControllerFailuresInit } from './contracts.js';
import { FailureLog } from './failure-log.js';

type HostSubject = FailedSubject & { readonly kind: 'host' };

export class ControllerFailures implements JobFailures {
  readonly #init: ControllerFailuresInit;
  readonly #log: FailureLog;
  /** Once there is something to watch. */
  #arbiter: Arbiter | undefined;
  #isStarted = false;

  constructor(init: ControllerFailuresInit) {
    this.#init = init;
    const { node, holds } = init;
    this.#log = new FailureLog({
      node, holds,
      agents: () => this.tellsHosts ? this.rootAgents : [],
      onRecord: (record) => {
        countFailure(node.metrics, record);
        init.onRecord(record);
      },
    });
    node.messages.lazy.add(ARBITER_MESSAGES, (done) => this.#useArbiter((_arbiter, error) => done(error)));
  }

  /** All hosts are up or left out. Nothing is sent for the detectors that always run: they need no others. */
  start(): void {
    this.#isStarted = true;
    const { node, scope } = this.#init;
    // Where none is named, none is asked.
    const isWanted = node.params.string('overlay.topology') !== '' || node.params.list('detector').length > 0
      && scope.detectors().some(({ isNamed, module }) => isNamed && module.watches === 'agents');
    if (isWanted) {
      this.#useArbiter((arbiter, error) => {
        if (error !== undefined) node.fault(error, 'failure watch');
        arbiter?.start();
      });
    }
  }

  get tellsHosts(): boolean {
    return this.#arbiter?.isWatching === true;
  }

  /** The agent of a host runs, another incarnation than before. */
  onUp(host: HostIndex): void {
    this.#arbiter?.onUp(this.#memberOf(host));
  }

  /** It leaves the session, as it was asked to. */
  onLeft(host: HostIndex): void {
    this.#arbiter?.onVerdict({ member: this.#memberOf(host), change: 'left', notice: undefined });
  }

  /** It is no member yet, and nobody else is told. */
  onStartFailed(host: HostIndex, error: StciError, reporter: ParentHost, cause?: LossEvidence): void {
    this.#record({ ...this.#evidenceOf(this.#hostSubject(host), error, reporter), cause: cause ?? startCause(error) });
  }

  /** The host is given up: all members are told. `report`: of its link; `declared`: for this reason. */
  onHostLost(host: HostIndex, error: { readonly message: string }, report?: LossReport, declared?: Evidence): void {
    const member = this.#memberOf(host);
    const subject = this.#hostSubject(host);
    const facts = lossFacts(this.table.get(host).state === 'failed', report);
    const own = { ...this.#evidenceOf(subject, error, report?.reporter), ...facts };
    const notice = declared ?? this.#arbiter?.noticeOf(subject) ?? own;
    this.#record(notice);
    if (report !== undefined) this.#record(own);
    this.#log.release(subject); // It is decided, whatever its probe says yet.
    this.#arbiter?.onVerdict({ member, change: 'dead', notice });
  }

  onRankFailed(job: JobId, { error, host }: Failure, end: RankEnd, attempt: number): void {
    const cause = RANK_CAUSES[end.outcome];
    if (host === undefined || cause === undefined) return;
    const { rank, endWallMs } = end;
    const subject = { kind: 'tool', host, job, rank, attempt } as const;
    // Without a notice, all that is known of when it was found out is when the controller learned of it.
    const told = this.#arbiter?.noticeOf(subject);
    const failed = endWallMs === undefined ? {} : { failedWallMs: endWallMs };
    const learned = { ...this.#evidenceOf(subject, error), detector: 'process', cause, ...failed };
    this.#record(told ?? learned, told === undefined);
    this.#log.records.lost(failureId(subject), job, [rank]);
  }

  onRanksLost(job: JobId, { host, kind, error }: HostFailure, ranks: readonly Rank[], attempt: number): FailureId {
    const ofHost = this.#hostSubject(host);
    const subject = kind === 'session-lost' ? { ...ofHost, kind: 'session-agent', job, attempt } as const : ofHost;
    if (kind === 'session-lost') this.#record({ ...this.#evidenceOf(subject, error, host), cause: 'closed' });
    this.#log.records.lost(failureId(subject), job, ranks);
    return failureId(subject);
  }

  onDecision(failure: FailureId | undefined, decision: string): void {
    if (failure !== undefined) this.#log.records.decided(failure, decision);
  }

  onEnding(job: JobId, done: () => void): void {
    const isDue = (subject: FailedSubject): boolean => subject.kind === 'host' || subject.job === job;
    const isSpread = (subject: FailedSubject): boolean => this.#arbiter?.noticeOf(subject) !== undefined;
    this.#log.onEnding(isDue, isSpread, done);
  }

  /** A session of one job ends, since these have not come up in time. */
  onLaunchTimeout(): void {
    for (const host of this.table.hosts('planned', 'starting')) {
      const text = 'its agent was not up when the time for the launch was over (--launch-timeout)';
      const error = new StciError('STCI_LAUNCH_TIMEOUT', text);
      this.onStartFailed(host, error, undefined);
      this.onLaunchEnding(host, undefined);
    }
  }

  /** The start of the host failed, and with it the launch. */
  onLaunchEnding(host: HostIndex, reason: string | undefined): void {
    const text = `the launch is ended${reason === undefined ? '' : `: ${reason}`}`;
    this.onDecision(failureId(this.#hostSubject(host)), text);
  }

  onRecovery(event: RecoveryEvent): void {
    this.onDecision(event.error.failure, recoveryText(event));
  }

  onMended(host: HostIndex, parent: ParentHost): void {
    const { hostName } = this.#init;
    const name = parent === undefined ? 'controller' : hostName(parent);
    this.#init.node.metrics.count('repairs', 1);
    this.#log.records.linked(hostName(host), name);
    this.#init.emit({
      type: 'member', host, name: hostName(host), incarnation: this.#memberOf(host).incarnation, wallMs: this.#wallMs,
      change: 'linked', parent: name,
    });
  }

  get rootAgents(): readonly AgentOfJob[] {
    return (this.#init.table()?.hosts('up') ?? []).map((host) => [rootAddress(host), 0] as const);
  }

  get #wallMs(): number {
    return this.#init.node.platform.clock.wallMs();
  }

  /** Loaded where detectors watch agents, or programs want to know. */
  #useArbiter(done: (arbiter: Arbiter | undefined, error?: StciError) => void): void {
    if (this.#arbiter !== undefined) return done(this.#arbiter);
    arbiterCode.use((Code, error) => {
      const { holds } = this.#init;
      this.#arbiter ??= Code && new Code({
        ...this.#init, log: this.#log,
        table: () => this.table, isOpen: () => this.#isStarted && !holds.isClosed,
        memberOf: (host) => this.#memberOf(host), record: (notice) => this.#record(notice),
      });
      done(this.#arbiter, error);
    });
  }

  #record(notice: Evidence, isProvisional = false): void {
    this.#log.add(notice, this.#init.hostName(notice.subject.host), isProvisional);
  }

  /** `by`: whose agent says so; undefined: the controller. */
  #evidenceOf(subject: FailedSubject, error: { readonly message: string }, by?: HostIndex): Omit<Evidence, 'cause'> {
    return evidenceOf(subject, error, this.#wallMs, by === undefined ? this.#init.overlay.self : this.#memberOf(by));
  }

  get table(): MembershipTable {
    return this.#init.table() as MembershipTable;
  }

  #hostSubject(host: HostIndex): HostSubject {
    return { kind: 'host', host, incarnation: this.table.get(host).incarnation };
  }

  #memberOf(host: HostIndex): MemberId {
    return { position: bootPosition(host), incarnation: this.table.get(host).incarnation };
  }
}
