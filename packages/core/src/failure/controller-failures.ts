/**
 * Failures at the controller, the arbiter (STCI paper, II-F): it decides what the detectors' reports mean for the
 * session. A member that somebody reports is fenced, unless the reporter is itself dead by then: two that report each
 * other do not both go. It tells all members its verdicts, and keeps the records.
 */

import {
  StciError, addressName, bootHost, bootPosition, rootAddress, type FailedSubject, type Failure,
  type Evidence, type FailureRecord, type HostIndex, type JobId, type MemberEvent, type MemberId, type Rank,
  type RecoveryEvent,
} from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { LossNotices, type StartFailure, type HostLoss } from '../hosts/loss-notices.js';
import type { RankEnd } from '../job/ledger.js';
import { RANK_CAUSES } from '../jobs/job-failures.js';
import type { JobFailures } from '../jobs/job-session.js';
import { addressAt, runsOf } from '../members/positions.js';
import type { Declared, LossReport } from '../membership/mender.js';
import type { MembershipTable, ParentHost } from '../membership/table.js';
import type { MessageBody } from '../messages/messages.js';
import { countFailure } from '../metrics/failures.js';
import type { AgentNode } from '../node/node.js';
import type { AgentOfJob } from '../node/request-all.js';
import type { Overlay } from '../peers/contracts.js';
import { recoveryText } from '../run/recovery-text.js';
import { DisputedDeaths } from './disputed-deaths.js';
import { FailureLog } from './failure-log.js';
import { bindFailureWatch, openFailureWatch, startFailureWatch } from './failure-watch.js';
import { HostProbes } from './host-probe.js';
import { memberOf } from './notice.js';
import type { FailureWatch } from './watch.js';

/** Reports of a host that has answered so shortly before wait for one another: nobody keeps the session busy. */
const REFUTED_MS = 1000;

export interface ControllerFailuresInit {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly overlay: Overlay;
  /** Once the session has been opened. */
  table(): MembershipTable | undefined;
  hostName(host: HostIndex): string;
  /** The host's agent is given up, for this reason. */
  declare(host: HostIndex, incarnation: number, declared: Declared): void;
  /** To the jobs that it concerns. */
  onRecord(record: FailureRecord): void;
  /** To all jobs. */
  emit(event: MemberEvent): void;
}

export class ControllerFailures implements JobFailures {
  readonly #init: ControllerFailuresInit;
  readonly #log: FailureLog;
  readonly #disputed: DisputedDeaths;
  readonly #losses: LossNotices;
  readonly #probes: HostProbes;
  readonly #refutedMs = new Map<HostIndex, number>();
  #watch: FailureWatch | undefined;
  #isStarted = false;
  #isStopped = false;

  constructor(init: ControllerFailuresInit) {
    this.#init = init;
    const { node, overlay } = init;
    this.#log = new FailureLog({
      node,
      agents: () => this.#watch === undefined ? [] : this.rootAgents,
      onRecord: (record) => {
        countFailure(node.metrics, record);
        init.onRecord(record);
      },
    });
    this.#losses = new LossNotices(() => this.#wallMs);
    this.#probes = new HostProbes({ node, table: () => this.table, hasOverlay: () => overlay.topology !== undefined });
    const { messages, platform: { clock } } = init.node;
    this.#disputed = new DisputedDeaths({
      clock,
      isOpen: (member) => this.#watch !== undefined && member.position > 0
        && bootHost(member.position) < this.table.size && !this.#isDead(member)
        && !this.#probes.isOpen(member),
      ask: (member, error) => {
        const subject = this.#hostSubject(bootHost(member.position));
        this.#probe(this.#watch?.board.get(subject)?.notice ?? this.#losses.ofHost(subject, error, false), member);
      },
    });
    messages.on('failure.seen', ({ seen, members }, { source }) => {
      for (const [key, wallMs] of seen) this.#log.records.seen(key, source, wallMs);
      this.#disputed.add(source, members);
    });
    bindFailureWatch(init.node, () => this.#watch);
    messages.on('failure.interest', () => this.#startWatch());
  }

  /** All hosts are up or left out. Nothing is sent for the detectors that always run: they need no others. */
  start(): void {
    this.#isStarted = true;
    const { node, scope } = this.#init;
    // Where none is named, none is asked.
    const isWanted = node.params.string('overlay.topology') !== '' || node.params.list('detector').length > 0
      && scope.detectors().some(({ isNamed, module }) => isNamed && module.watches === 'agents');
    if (isWanted) this.#startWatch();
  }

  get tellsHosts(): boolean {
    return this.#watch !== undefined;
  }

  /** The session ends: whoever goes now is no failure. What is recorded is told. */
  stop(): void {
    this.#isStopped = true;
    this.#probes.stop();
    this.#watch?.stop();
    this.#disputed.stop();
    this.#log.stop();
  }

  /** The agent of a host runs, another incarnation than before. */
  onUp(host: HostIndex): void {
    if (this.#watch === undefined) return;
    const member = this.#memberOf(host);
    this.#watch.joined(member);
    this.#tell('failure.joined', { member }, host);
    this.#init.node.messages.send(rootAddress(host), 'failure.watch', { members: runsOf(this.#members()) });
  }

  /** It leaves the session, as it was asked to. */
  onLeft(host: HostIndex): void {
    this.#verdict({ member: this.#memberOf(host), verdict: 'left', notice: undefined });
  }

  /** It is no member yet, and nobody else is told. */
  onStartFailed({ host, reporter, cause, error }: StartFailure): void {
    this.#record({ ...this.#losses.of(this.#hostSubject(host), error), cause }, reporter);
  }

  /** The host is given up: all members are told. `report`: of its link; `declared`: for this reason. */
  onHostLost(host: HostIndex, error: StciError, report?: LossReport, declared?: Evidence): void {
    const member = this.#memberOf(host);
    const subject = { kind: 'host', host, incarnation: member.incarnation } as const;
    const notice = declared ?? this.#watch?.board.get(subject)?.notice
      ?? this.#losses.ofHost(subject, error, this.table.get(host).state === 'failed', report);
    this.#record(notice, report?.reporter);
    this.#log.release(subject); // It is decided, whatever its probe says yet.
    this.#verdict({ member, verdict: 'dead', notice });
  }

  onRankFailed(job: JobId, { error, host }: Failure, end: RankEnd, attempt: number): void {
    const cause = RANK_CAUSES[end.outcome];
    if (host === undefined || cause === undefined) return;
    const { rank, endWallMs } = end;
    const subject = { kind: 'tool', host, job, rank, attempt } as const;
    // Without a notice, all that is known of when it was found out is when the controller learned of it.
    const told = this.#watch?.board.get(subject)?.notice;
    const failed = endWallMs === undefined ? {} : { failedWallMs: endWallMs };
    const learned = { ...this.#losses.of(subject, error), detector: 'process', cause, ...failed };
    this.#record(told ?? learned, undefined, told === undefined);
    this.#log.records.lost(subject, job, [rank]);
  }

  onRanksLost(job: JobId, { host, kind, error }: HostLoss, ranks: readonly Rank[], attempt: number): void {
    const isAgent = kind === 'session-lost';
    const subject = isAgent ? this.#agentSubject(host, job, attempt) : this.#hostSubject(host);
    if (isAgent) this.#record({ ...this.#losses.of(subject, error), reporter: this.#memberOf(host), cause: 'closed' });
    this.#log.records.lost(subject, job, ranks);
  }

  onDecision(job: JobId, { host, rank, kind }: Failure, decision: string, attempt: number): void {
    if (host === undefined) return;
    const agent = kind === 'session-lost' ? this.#agentSubject(host, job, attempt) : this.#hostSubject(host);
    this.#log.records.decided(rank === undefined ? agent : { kind: 'tool', host, job, rank, attempt }, decision);
  }

  onEnding(job: JobId, done: () => void): void {
    const isDue = (subject: FailedSubject): boolean => subject.kind === 'host' || subject.job === job;
    const isSpread = (subject: FailedSubject): boolean => this.#watch?.board.get(subject) !== undefined;
    this.#log.onEnding(isDue, isSpread, done);
  }

  /** A session of one job ends, since these have not come up in time. */
  onLaunchTimeout(): void {
    for (const host of this.table.hosts('planned', 'starting')) {
      const text = 'its agent was not up when the time for the launch was over (--launch-timeout)';
      const error = new StciError('STCI_LAUNCH_TIMEOUT', text);
      this.onStartFailed({ host, reporter: undefined, cause: 'not-started', error });
      this.onLaunchEnding(host, undefined);
    }
  }

  /** The start of the host failed, and with it the launch. */
  onLaunchEnding(host: HostIndex, reason: string | undefined): void {
    const text = `the launch is ended${reason === undefined ? '' : `: ${reason}`}`;
    this.#log.records.decided(this.#hostSubject(host), text);
  }

  onRecovery(event: RecoveryEvent): void {
    this.#log.records.decided(this.#hostSubject(event.host), recoveryText(event));
  }

  onMended(host: HostIndex, parent: ParentHost): void {
    const { hostName } = this.#init;
    const name = parent === undefined ? 'controller' : hostName(parent);
    this.#init.node.metrics.count('repairs', 1);
    this.#log.records.linked(hostName(host), name);
    this.#init.emit({ ...this.#changed(this.#memberOf(host)), change: 'linked', parent: name });
  }

  get rootAgents(): readonly AgentOfJob[] {
    return (this.#init.table()?.hosts('up') ?? []).map((host) => [rootAddress(host), 0] as const);
  }

  get #wallMs(): number {
    return this.#init.node.platform.clock.wallMs();
  }

  #startWatch(): void {
    if (this.#watch !== undefined || !this.#isStarted || this.#isStopped) return;
    const { node, scope, overlay } = this.#init;
    this.#watch = openFailureWatch(node, scope, overlay, {
      onNotice: (notice, news) => this.#onNotice(notice, news),
      onFenced: () => undefined,
      onCutOff: () => undefined,
    });
    const members = this.#members();
    this.#tell('failure.watch', { members: runsOf(members) });
    startFailureWatch(node, scope, this.#watch, members);
  }

  #onNotice(notice: Evidence, news: 'new' | 'confirmed'): void {
    const { subject, reporter, detector, evidence } = notice;
    const member = memberOf(subject);
    const { table } = this;
    // Of a rank, only what its job has a failure of: an agent may speak of ranks that are not there.
    if (member === undefined) return this.#log.records.has(subject) ? this.#record(notice) : undefined;
    if (table.get(subject.host).incarnation !== member.incarnation) return;
    if (table.isGone(subject.host)) return this.#record(notice);
    // One that is not recorded yet waits to be asked: its record would be told before that is decided.
    if (news === 'confirmed') return this.#log.records.has(subject) ? this.#record(notice) : undefined;
    if (reporter.position !== 0 && this.#isDead(reporter)) return this.#refute(member);
    const address = addressAt(reporter.position);
    const refutedMs = this.#refutedMs.get(subject.host) ?? -Infinity;
    if (this.#init.node.platform.clock.nowMs() < refutedMs + REFUTED_MS) return this.#disputed.add(address, [member]);
    this.#record(notice);
    const by = addressName(address);
    this.#init.emit({ ...this.#changed(member), change: 'suspected', detector, reporter: by, evidence });
    this.#probe(notice, member);
  }

  /** The first on the way that does not answer is given up; those below it are linked to others, and live. */
  #probe(notice: Evidence, member: MemberId): void {
    this.#log.records.hold(notice.subject);
    const askedWallMs = this.#wallMs;
    if (this.#probes.isOpen(member)) return;
    this.#probes.probe(member, (silent, isSilent) => {
      if (this.#isStopped) return;
      this.#log.release(notice.subject);
      if (!this.#isDead(member)) this.#onProbed(notice, { member, askedWallMs }, silent, isSilent);
    });
  }

  /** `silent`: the first on the way that did not answer. */
  #onProbed(
    notice: Evidence, { member, askedWallMs }: { readonly member: MemberId; readonly askedWallMs: number },
    silent: MemberId | undefined, isSilent: boolean,
  ): void {
    if (silent?.position === member.position) return this.#declare(notice, member);
    // The overlay leads to it once the one above it is given up. Without one, the mender has it linked again, or gives
    // it up.
    const isOpen = isSilent && this.#init.overlay.topology !== undefined;
    if (!isOpen) this.#refute(member);
    if (silent !== undefined) this.#declareAbove(notice, silent, askedWallMs);
    if (isOpen) this.#probe(notice, member);
  }

  /** It is the controller that found it: times, too, are the controller's. */
  #declareAbove({ evidence: below, cause, detector }: Evidence, member: MemberId, suspectedWallMs: number): void {
    const host = bootHost(member.position);
    if (this.#isDead(member) || this.table.get(host).state !== 'up') return;
    const subject = { kind: 'host', host, incarnation: member.incarnation } as const;
    const message = `no answer, and silence below it (${below})`;
    this.#declare({ ...this.#losses.of(subject, { message }), cause, detector, suspectedWallMs }, member);
  }

  #refute(member: MemberId): void {
    const host = bootHost(member.position);
    this.#refutedMs.set(host, this.#init.node.platform.clock.nowMs());
    this.#log.records.withdraw({ kind: 'host', host, incarnation: member.incarnation });
    this.#init.emit({ ...this.#changed(member), change: 'refuted' });
    this.#verdict({ member, verdict: 'refuted', notice: undefined });
  }

  /** What all events of a member say. */
  #changed({ position, incarnation }: MemberId) {
    const host = bootHost(position);
    return { type: 'member', host, name: this.#init.hostName(host), incarnation, wallMs: this.#wallMs } as const;
  }

  #declare(notice: Evidence, member: MemberId): void {
    const { reporter } = notice;
    const host = bootHost(member.position);
    const name = this.#init.hostName(host);
    const by = reporter.position === 0 ? 'the controller' : `host ${this.#init.hostName(bootHost(reporter.position))}`;
    const text = `Host ${name} is lost: ${notice.evidence} (detector ${notice.detector}, reported by ${by})`;
    const agent = addressName(rootAddress(host));
    const error = new StciError('STCI_AGENT_LOST', text, { host: name, agent });
    // Before its links are closed: it ends itself.
    this.#init.node.messages.send(rootAddress(host), 'failure.verdict', { member, verdict: 'dead', notice });
    this.#init.declare(host, member.incarnation, { error, notice });
  }

  #isDead({ position, incarnation }: MemberId): boolean {
    const host = bootHost(position);
    return this.table.isGone(host) || this.table.get(host).incarnation !== incarnation;
  }

  #verdict(verdict: MessageBody<'failure.verdict'>): void {
    if (this.#watch === undefined || this.#isStopped) return;
    this.#watch.onVerdict(verdict);
    this.#tell('failure.verdict', verdict, bootHost(verdict.member.position));
  }

  #tell<Name extends 'failure.watch' | 'failure.joined' | 'failure.verdict'>(
    name: Name, body: MessageBody<Name>, except?: HostIndex,
  ): void {
    const { messages } = this.#init.node;
    for (const { position } of this.#members()) {
      if (position !== 0 && bootHost(position) !== except) messages.send(rootAddress(bootHost(position)), name, body);
    }
  }

  #record(notice: Evidence, reporter?: ParentHost, isProvisional = false): void {
    const { hostName } = this.#init;
    const by = reporter === undefined ? addressName(addressAt(notice.reporter.position)) : `root:${reporter}`;
    this.#log.add(notice, { host: hostName(notice.subject.host), reporter: by }, isProvisional);
  }

  get table(): MembershipTable {
    return this.#init.table() as MembershipTable;
  }

  #agentSubject(host: HostIndex, job: JobId, attempt: number): FailedSubject {
    return { kind: 'session-agent', host, job, attempt, incarnation: this.#memberOf(host).incarnation };
  }

  #hostSubject(host: HostIndex): FailedSubject {
    return { kind: 'host', host, incarnation: this.#memberOf(host).incarnation };
  }

  #memberOf(host: HostIndex): MemberId {
    return { position: bootPosition(host), incarnation: this.table.get(host).incarnation };
  }

  #members(): MemberId[] {
    const hosts = this.table.hosts('up', 'suspect', 'orphaned');
    return [this.#init.overlay.self, ...hosts.map((host) => this.#memberOf(host))];
  }
}
