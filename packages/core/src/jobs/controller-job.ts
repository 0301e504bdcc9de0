/**
 * One job at the controller: its map, ledger, deadlines and end. It does not decide on failures: each one goes to the
 * error manager, whose decision it carries out.
 *
 * Phases: launching (root agents come up, the launch is sent down) → running (every rank was started) → ending (by the
 * error manager, the user or a deadline) → over (every rank has an outcome, and every remaining session agent has
 * drained).
 */

import {
  caught, failureId, sessionAddress, type ErrorRecord, type Failure, type HostIndex, type HostSpec, type JobControl,
  type JobId, type JobSpec, type Params, type Rank, type StciError,
} from '@stci/interface';
import { Scope } from '../event/scope.js';
import { failureBy, hostFailure, type HostFailure } from '../job/exit-rule.js';
import type { Ledger, RankEnd } from '../job/ledger.js';
import { localSize, ranksOf } from '../job/placement.js';
import { checkRanks } from '../job/rank-checks.js';
import type { AgentOfJob } from '../messages/collected.js';
import type { SessionFailure } from '../messages/failure-shapes.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { AbortingRank, JobAtController, JobHooks, ServedJob } from '../service/contracts.js';
import { ServedHooks } from '../service/served-hooks.js';
import { JobDeadlines } from './job-deadlines.js';
import {
  jobTimeoutError, launchTimeoutError, survivorsFailure, unansweredHostError, undrainedText,
} from './job-failures.js';
import { JobFront } from './job-front.js';
import { JobHosts } from './job-hosts.js';
import { jobLaunch, ledgerIn } from './job-launch.js';
import { JobRecovery, type RestartingEnd } from './job-recovery.js';
import type { ControllerJobInit, JobPhase, JobSession, RecoveringJob } from './job-session.js';
import { spawnRanks } from './rank-spawn.js';
import { ALLOCATION_GRACE_MS, JobTermination } from './job-termination.js';

export class ControllerJob implements RecoveringJob, ServedJob {
  readonly job: JobId;
  readonly front: JobFront;
  readonly session: JobSession;
  readonly #node: AgentNode;
  readonly #spec: JobSpec;
  readonly params: Params;
  readonly recovery: JobRecovery;
  /** What its map is of; undefined: it has waited, and the map is old. */
  #planned: Pick<ControllerJobInit, 'hosts' | 'leftOut'> | undefined;
  ledger: Ledger;
  /** Until it is over. */
  readonly holds: Scope;
  readonly services = new ServedHooks();
  #leftOut: ReadonlySet<HostIndex> = new Set();
  phase: JobPhase = 'launching';
  readonly hosts = new JobHosts();
  /** What has been sent down: there are session agents to send to. */
  #launch: Launch | undefined;
  readonly #end: JobTermination;
  readonly #deadlines: JobDeadlines;
  /** The user wants the job killed, or --timeout is long over: output is not awaited. */
  #forced = false;
  readonly #now = (): number => this.#node.platform.clock.wallMs();

  /** Throws StciError if the job cannot be run; nothing has been sent then. */
  constructor({ session, job, spec, hosts, leftOut }: ControllerJobInit) {
    this.job = job;
    this.session = session;
    this.#node = session.node;
    this.#spec = spec;
    this.holds = new Scope(`job ${job}`);
    this.params = session.scope.jobParams(spec.params);
    this.front = new JobFront({
      node: session.node, job, spec, params: this.params,
      onUnsent: (error) => this.#forceEnd('agent-launch', error),
    });
    this.#deadlines = new JobDeadlines(this.#node.platform.clock, this.holds, {
      onLaunchTimeout: (timeoutMs, hasWaited) => this.#onLaunchTimeout(timeoutMs, hasWaited),
      onJobTimeout: (timeoutMs) => this.#onJobTimeout(timeoutMs),
      onOverdue: () => {
        this.#forced = true;
        this.checkOver();
      },
    });
    this.#end = new JobTermination(this, () => this.#giveUp());
    this.recovery = new JobRecovery(this);
    this.#planned = { hosts, leftOut };
    this.ledger = this.mapOn(hosts, leftOut, this.#now());
  }

  /** Tells the map, and begins the deadlines. */
  start(): void {
    const { holds } = this.session;
    holds.include(this.holds);
    this.holds.atEnd(holds.atEnd(() => this.close()));
    this.#mapped();
    this.#deadlines.start(this.#spec, this.params.int('tool.grace'));
  }

  /** The session has ended: no more is sent. */
  close(): void {
    this.phase = 'over';
    this.hosts.clear();
    this.holds.close();
  }

  /** Ranks of its map on a host that it has not lost. */
  ranksOn(host: HostIndex): number {
    const place = this.hosts.isLost(host) ? undefined : this.ledger.map.hosts[host];
    return place === undefined ? 0 : localSize(place);
  }

  /** Where a rank runs now. */
  hostOf(rank: Rank): HostIndex | undefined {
    return this.ledger.isRunning(rank) ? this.ledger.placements.host(rank) : undefined;
  }

  /** Session agents of its that are there. */
  get agents(): AgentOfJob[] {
    return this.hosts.present.map((host) => [sessionAddress(host), this.job]);
  }

  /** The job waits for hosts or slots until `onReady` is called. */
  hold(): void {
    this.#planned = undefined;
    this.awaitSlots(true);
  }

  /** All wanted hosts are up: sends the job down the tree, with a new map if the hosts are not the planned ones. */
  onReady(hosts: readonly HostSpec[], leftOut: ReadonlySet<HostIndex>): void {
    if (this.phase !== 'launching') return;
    this.#deadlines.resumeLaunch();
    const plan = this.#planned;
    if (leftOut.size !== plan?.leftOut.size || hosts.some((host, i) => host !== plan.hosts[i])) {
      const fault = caught<StciError | undefined>(() => {
        this.ledger = this.mapOn(hosts, leftOut);
        return void this.#mapped();
      }, (error) => error);
      if (fault !== undefined) return this.#forceEnd('agent-launch', fault);
    }
    this.#leftOut = leftOut;
    for (const host of leftOut) this.hosts.onLost(host);
    this.#launch = this.launchNow();
    this.front.check(this.session.passLaunch(this.#launch, this.job));
  }

  launchNow(ledger: Pick<Ledger, 'spec' | 'map' | 'spawns'> = this.ledger): Launch {
    return jobLaunch(this.session, this.job, ledger, this.params, this.#leftOut);
  }

  get isLaunched(): boolean {
    return this.#launch !== undefined;
  }

  hasFirstAgent(host: HostIndex): boolean {
    return this.#launch?.hosts.some(([each]) => each === host) === true;
  }

  awaitSlots(isWaiting: boolean): void {
    if (isWaiting) this.#deadlines.suspendLaunch();
    else if (this.phase === 'launching') this.#deadlines.resumeLaunch();
  }

  service<Hooks extends JobHooks>(name: string, make: (of: JobAtController) => Hooks): Hooks {
    return this.services.of(name, () => make({
      node: this.#node, holds: this.holds, job: this.job, params: this.params, ledger: this.ledger,
      front: this.front, isPlacing: () => this.recovery.isPlacing, abort: (by) => this.#onAbort(by),
      spawn: (request, done) => spawnRanks(this, request, done),
    }));
  }

  /** Hosts have been linked again: the launch may have been lost on the way to them. */
  onMended(hosts: ReadonlySet<HostIndex>): void {
    if (this.phase === 'over' || this.#launch === undefined) return;
    // A lost host may take part again, with other agents, which have none of the job's ranks.
    const isOurs = (host: HostIndex): boolean => hosts.has(host) && !this.hosts.isLost(host);
    for (const launch of this.recovery.launches(this.#launch, isOurs)) {
      this.front.check(this.session.passLaunch(launch, this.job));
    }
  }

  /** The session's launch was aborted. */
  onAborted(failures: readonly Failure[]): void {
    if (this.phase !== 'launching') return;
    for (const failure of failures) this.ledger.failed(failure);
    this.end(failures[0]?.error ?? { message: 'the launch failed' });
  }

  onStarted(host: HostIndex, ranks: MessageBody<'job.started'>['ranks']): void {
    const ledger = this.#checked(host, ranks.map(([rank]) => rank));
    if (ledger === undefined) return;
    for (const [rank, pid, wallMs] of ranks) {
      if (!ledger.started(rank, pid, wallMs)) continue;
      const attempt = ledger.attempt(rank);
      this.front.emit({ type: 'started', rank, host, pid, wallMs, ...(attempt > 1 && { attempt }) });
    }
    this.services.onStarted();
    this.#checkRunning();
  }

  onExited(host: HostIndex, ends: readonly RankEnd[]): void {
    const ledger = this.#checked(host, ends.map(({ rank }) => rank));
    if (ledger === undefined) return;
    for (const end of ends) {
      const entry = ledger.exited(end, this.#now());
      if (!entry.counted) continue;
      this.tellExit(end.rank, entry.failure);
      if (entry.failure !== undefined) this.#onFailure(entry.failure);
    }
    if (this.session.stays) this.session.slots.onFree();
    this.#checkRunning();
    this.checkOver();
  }

  /** The session agent starts them again. */
  onRestarting({ host, ranks }: MessageBody<'job.restarting'>): void {
    if (this.#checked(host, ranks.map(({ rank }) => rank)) === undefined) return;
    this.recovery.onRestarting(host, ranks as readonly RestartingEnd[]);
    if (this.hosts.isLost(host)) return;
    this.#node.messages.send(sessionAddress(host), 'job.restarting.noted', {}, this.job);
  }

  /** The ledger, for a report of these ranks of a host; undefined: it is late, of a host that was given up. */
  #checked(host: HostIndex, ranks: readonly Rank[]): Ledger | undefined {
    if (this.phase === 'over') return undefined;
    const ledger = this.ledger;
    checkRanks(ledger.placements, ledger.map, host, ranks);
    this.hosts.onReport(host);
    return ledger;
  }

  onDrained({ host, swept, survivors, restarts }: MessageBody<'job.drained'>): void {
    if (this.phase === 'over') return;
    if (this.recovery.relocation.sentTo(host) === restarts) this.hosts.onDrained(host);
    this.ledger.drained(host, swept);
    const found = survivorsFailure(this.ledger.spec.hosts, host, survivors, this.#now());
    if (found !== undefined && this.ledger.failed(found)) this.#onFailure(found);
    this.checkOver();
  }

  /** Hosts are the session's concern before the launch: the job gets those that come up. */
  onHostLost(loss: HostFailure, agent?: SessionFailure): void {
    if (this.phase === 'over' || this.#launch === undefined) return;
    const found = this.recovery.lose(loss, agent);
    const isRecorded = this.session.failures.tellsHosts && loss.kind === 'agent-lost';
    if (found !== undefined) this.#onFailure(found, isRecorded);
    this.#checkRunning();
    this.checkOver();
  }

  onControl(control: JobControl): void {
    if (this.phase === 'over') return;
    if (control.verb === 'signal') {
      return void this.#node.messages.sendSubtree('job.signal', { signal: control.signal }, this.job);
    }
    if (control.cause !== undefined) {
      const { failure: _told, ...error } = control.cause.error;
      this.record({ ...control.cause, error, wallMs: this.#now() });
    }
    this.end({ message: control.reason }, control.kill);
  }

  /** The job's hosts are taken: it ends in the time that a batch system gives, whose words are the reason. */
  onAllocationEnding(error: StciError, hasWords: boolean): void {
    if (this.phase === 'over') return;
    const found = failureBy('interrupt', error, this.#now());
    const isReason = hasWords || this.phase !== 'ending';
    if (isReason && this.ledger.explain(found)) this.front.emit({ type: 'failure', error: found.error });
    this.end(error);
    this.#end.shortenGrace(ALLOCATION_GRACE_MS);
  }

  /** The job as it would be on these hosts. Throws StciError if it cannot be run on them. */
  mapOn(hosts: readonly HostSpec[], leftOut: ReadonlySet<HostIndex>, submitWallMs = this.ledger.submitWallMs): Ledger {
    const of = { job: this.job, hosts, leftOut, submitWallMs };
    return ledgerIn(this.session, this.#spec, this.params, of, (ledger) => this.launchNow(ledger));
  }

  #mapped(): void {
    const { map } = this.ledger;
    this.hosts.onMapped(map);
    this.front.emit({ type: 'mapped', map });
  }

  #checkRunning(): void {
    if (this.phase !== 'launching' || this.#launch === undefined || !this.ledger.allStarted) return;
    this.phase = 'running';
    this.#deadlines.onLaunched();
    this.front.emit({ type: 'running' });
  }

  tellExit(rank: Rank, failure?: Failure): void {
    const report = this.ledger.rankReport(rank);
    if (report === undefined) return;
    this.front.emit({ type: 'exited', report });
    const { failures } = this.session;
    if (failure !== undefined) failures.onRankFailed(this.job, failure, report, this.ledger.attempt(rank));
    this.services.onEnded(report);
  }

  #onFailure(found: Failure, isRecorded = false): void {
    this.front.emit({ type: 'failure', error: found.error, ...(isRecorded && { isRecorded }) });
    this.recovery.apply(found);
  }

  record(found: Failure): void {
    if (this.ledger.failed(found)) this.front.emit({ type: 'failure', error: found.error });
  }

  #onLaunchTimeout(timeoutMs: number, hasWaited: boolean): void {
    if (this.phase !== 'launching') return;
    const missing = this.#launch !== undefined ? [] : this.session.takeOverdue();
    this.#forceEnd('timeout', launchTimeoutError(timeoutMs, hasWaited, missing, this.ledger.ranksOpen));
  }

  /** Neither a host nor a reader of output delays the end further. A job that is ending has its cause. */
  #onJobTimeout(timeoutMs: number): void {
    this.services.askWaits((waits) =>
      this.#forceEnd('timeout', jobTimeoutError(timeoutMs, this.ledger.ranksOpen, waits)));
  }

  /** A rank has called MPI_Abort, say: it is asked to end nobody else. */
  #onAbort({ rank, host, code, exitCode, message }: AbortingRank): void {
    if (this.phase === 'ending' || this.phase === 'over') return;
    const name = this.ledger.map.hosts[host]?.name ?? '';
    const id = failureId({ kind: 'tool', host, rank, job: this.job, attempt: this.ledger.attempt(rank) });
    const text = `Rank ${rank} on ${name} ${message}`;
    const error = { code, message: text, host: name, rank, failure: id };
    this.record({ kind: 'tool-status', error, host, rank, wallMs: this.#now(), exitCode });
    this.end(error);
  }

  /** Without asking the error manager: the user set the deadline, and a job that does not fit its hosts cannot run. */
  #forceEnd(kind: 'timeout' | 'agent-launch', error: StciError): void {
    if (this.phase === 'ending' || this.phase === 'over') return;
    this.record(failureBy(kind, error, this.#now()));
    this.end(error);
  }

  end({ message: reason, failure }: Pick<ErrorRecord, 'message' | 'failure'>, kill = false): void {
    if (this.phase === 'over') return;
    const first = this.phase !== 'ending';
    this.phase = 'ending';
    this.#deadlines.onLaunched();
    this.recovery.giveUp();
    if (first) this.front.emit({ type: 'ending', reason, ...(failure !== undefined && { failure }) });
    if (this.#launch !== undefined) this.#end.send(kill, reason);
    else {
      this.hosts.clear();
      this.ledger.closeUnstarted();
    }
    this.#forced ||= kill;
    this.#end.await();
    this.checkOver();
  }

  /** Gives up hosts that do not answer and whose leases have not run out. */
  #giveUp(): void {
    const ledger = this.ledger;
    if (ledger.complete) return;
    for (const place of ledger.map.hosts) {
      if ([...ranksOf(place)].every((rank) => ledger.rankReport(rank) !== undefined)) continue;
      const error = unansweredHostError(ledger.spec.hosts, place.host);
      const lost = this.recovery.lose(hostFailure('agent-lost', place.host, error, this.#now()));
      if (lost !== undefined) this.front.emit({ type: 'failure', error: lost.error });
    }
    this.#over();
  }

  checkOver(): void {
    if (this.phase === 'over' || !this.ledger.complete || this.session.allocationEnd.isPending) return;
    if (this.hosts.isDrained) return this.#over();
    // A forced end waits for the last processes to be killed, not for the reader of output.
    if (this.#forced) this.#deadlines.awaitDrained(() => this.#over());
  }

  #over(): void {
    if (this.phase === 'over') return;
    const { undrained } = this.hosts;
    if (undrained.length > 0) {
      this.front.emit({ type: 'warning', text: undrainedText(this.ledger.spec.hosts, undrained) });
    }
    this.close();
    const report = this.ledger.report(this.#now());
    this.session.failures.onEnding(this.job, () => {
      this.front.tellEnd(report);
      this.session.onOver(this.job, this.#launch !== undefined);
    });
  }
}
