/**
 * Controller (STCI paper, II-A): keeps the state of a job, has its agents started along the boot tree, and ends it. It
 * does not decide on failures: each one goes to the error manager, whose decision it carries out.
 *
 * A job's phases: launching (root agents come up, the launch is sent down) → running (every rank was started) → ending
 * (by the error manager, the user or a deadline) → over (every rank has an outcome, and every remaining session agent
 * has drained).
 */

import {
  FRONT_END, StciError, addressIndex, addressKind, fromErrorRecord, toErrorRecord, type Address, type ErrorManager,
  type ErrorRecord, type Failure, type FailureContext, type HostIndex, type HostSpec, type JobControl, type JobEvent,
  type JobMap, type JobSpec, type Timer,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { createLedger, type Ledger, type RankEnd } from '../job/ledger.js';
import { ranksOf } from '../job/placement.js';
import { validateJob } from '../job/validate.js';
import { Bootstrap, type BootstrapFailure } from './bootstrap.js';
import { Expulsion } from './expulsion.js';
import {
  cutOffRecord, failureOf, jobTimeoutError, launchTimeoutError, survivorsError, unansweredHostError,
} from './job-failures.js';
import { bootTreeOf, creditBytes, jobLaunch, mapWithin, onHosts } from './job-launch.js';
import type { AgentNode } from './node.js';
import { checkRanks } from './rank-checks.js';
import type { AgentLauncher } from './agent-launcher.js';
import type { AgentScope, ParamSnapshot } from './composition.js';

/** How long after the grace period the ends of ranks are awaited: before SIGKILL, and again before the job is over. */
const END_REPORT_MS = 5000;

/** How long, after a forced end, hosts whose ranks have ended may take to drain. */
const DRAIN_MS = 3000;

export interface ControllerDeps {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly agentLauncher: AgentLauncher;
  readonly snapshot: ParamSnapshot;
}

type Phase = 'idle' | 'launching' | 'running' | 'ending' | 'over';

export class Controller {
  readonly #deps: ControllerDeps;
  readonly #node: AgentNode;
  readonly #errorManager: ErrorManager;
  readonly #expulsion: Expulsion;
  #phase: Phase = 'idle';
  #bootstrap: Bootstrap | undefined;
  #ledger: Ledger | undefined;
  #jobs = 0;
  /** Lost hosts: no further report of them is awaited. */
  readonly #lost = new Set<HostIndex>();
  /** Hosts that have ranks and have not drained. */
  readonly #undrained = new Set<HostIndex>();
  /** The launch has been sent down: there are session agents to send to. */
  #launched = false;
  #endSent: 'term' | 'kill' | undefined;
  #launchTimer: Timer | undefined;
  #jobTimer: Timer | undefined;
  #endTimer: Timer | undefined;
  #drainTimer: Timer | undefined;
  /** The user wants the job killed, or --timeout is long over: output is not awaited. */
  #forced = false;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    this.#node = deps.node;
    this.#errorManager = deps.scope.errorManager();
    this.#expulsion = new Expulsion({
      node: deps.node,
      bootstrap: () => this.#bootstrap,
      // During the bootstrap, the agents that start hosts report their loss.
      onLost: (agent, error) => this.#launched && this.#onAgentLost(agent, error),
    });
    this.#listen();
  }

  /** Ends all agents; calls `done` when none is left. */
  stop(done: () => void): void {
    this.#cancelTimers();
    this.#phase = 'over';
    if (this.#bootstrap === undefined) done();
    else this.#bootstrap.stop(done);
  }

  #listen(): void {
    const { messages } = this.#node;
    const expulsion = this.#expulsion;
    messages.on('job.submit', ({ spec }) => ({ job: this.#submit(spec) }));
    messages.on('job.control', (control) => this.#onControl(control));
    messages.on('agent.up', ({ host }) => this.#bootstrap?.onUp(host));
    messages.on('agent.failed', (found, from) => this.#onAgentFailed(found.agent, expulsion.acceptReport(from, found)));
    messages.on('job.started', ({ host, ranks }) => this.#onStarted(host, ranks));
    messages.on('job.exited', ({ host, ranks }) => this.#onExited(host, ranks as readonly RankEnd[]));
    messages.on('job.drained', (drained) => this.#onDrained(drained));
  }

  /** Throws StciError if the job cannot be run; nothing has been started then. */
  #submit(spec: JobSpec): number {
    if (this.#phase !== 'idle') throw new StciError('STCI_JOB_INVALID', 'This controller runs a job already');
    validateJob(spec);
    const { scope, agentLauncher, snapshot } = this.#deps;
    const map = mapWithin(spec, this.#node.params);
    agentLauncher.selectLauncherProc([...spec.hosts, ...(spec.spares ?? [])]);
    const bootstrap = new Bootstrap(
      {
        node: this.#node,
        agentLauncher,
        tree: bootTreeOf(scope, spec.hosts.length, this.#node.params),
        policy: scope.bootstrapPolicy(),
        hosts: spec.hosts,
        spares: spec.spares ?? [],
        snapshot,
      },
      {
        emit: (event) => this.#emit(event),
        onReady: (hosts, leftOut) => this.#onReady(spec, hosts, leftOut),
        onAborted: (failures) => this.#onAborted(failures),
        onLost: (agent, error) => this.#onAgentLost(agent, error),
      },
    );
    this.#jobs += 1;
    this.#bootstrap = bootstrap;
    this.#open(spec, map);
    this.#phase = 'launching';
    this.#armDeadlines(spec);
    bootstrap.start();
    return this.#jobs;
  }

  /** Opens the ledger of the job for its current map. */
  #open(spec: JobSpec, map: JobMap): void {
    const submitWallMs = this.#ledger?.submitWallMs ?? this.#now();
    this.#ledger = createLedger({ job: this.#jobs, spec, map, submitWallMs });
    this.#undrained.clear();
    for (const { host, runs } of map.hosts) if (runs.length > 0) this.#undrained.add(host);
    this.#emit({ type: 'mapped', map });
  }

  #armDeadlines(spec: JobSpec): void {
    const { timeoutMs, launchTimeoutMs } = spec;
    const { clock } = this.#node.platform;
    this.#launchTimer = clock.after(launchTimeoutMs, () => this.#onLaunchTimeout(launchTimeoutMs));
    if (timeoutMs !== undefined) this.#jobTimer = clock.after(timeoutMs, () => this.#onJobTimeout(timeoutMs));
  }

  /** All wanted hosts are up: sends the job down the tree, with a new map if the hosts are not the planned ones. */
  #onReady(spec: JobSpec, hosts: readonly HostSpec[], leftOut: ReadonlySet<HostIndex>): void {
    if (this.#phase !== 'launching') return;
    if (leftOut.size > 0 || hosts.some((host, i) => host !== spec.hosts[i])) {
      try {
        const changed = onHosts(spec, hosts, leftOut);
        validateJob(changed); // With fewer ranks, the rank that reads standard input may not exist.
        this.#open(changed, mapWithin(changed, this.#node.params));
      } catch (fault) {
        if (!(fault instanceof StciError)) throw fault;
        return this.#forceEnd('agent-launch', fault);
      }
    }
    for (const host of leftOut) this.#lost.add(host);
    this.#launched = true;
    const window = creditBytes(this.#node.params, hosts.length);
    const launch = jobLaunch(this.#node.sessionName, this.#ledger as Ledger, leftOut, window);
    (this.#bootstrap as Bootstrap).below.passLaunch(launch);
  }

  #onAborted(failures: readonly BootstrapFailure[]): void {
    if (this.#phase !== 'launching') return;
    const ledger = this.#ledger as Ledger;
    for (const { host, error } of failures) {
      const { exitCode } = fromErrorRecord(error);
      const place = host === undefined ? {} : { host };
      ledger.failed({ kind: 'agent-launch', error, ...place, wallMs: this.#now(), exitCode });
    }
    this.#endJob(false, failures[0]?.error.message ?? 'the launch failed');
  }

  #onStarted(host: HostIndex, ranks: MessageBody<'job.started'>['ranks']): void {
    if (this.#phase === 'over') return; // A late report of a host that was given up.
    const ledger = this.#ledger as Ledger;
    checkRanks(ledger.placements, ledger.map, host, ranks.map(([rank]) => rank));
    for (const [rank, pid, wallMs] of ranks) {
      if (ledger.started(rank, pid, wallMs)) this.#emit({ type: 'started', rank, host, pid, wallMs });
    }
    this.#checkRunning();
  }

  #checkRunning(): void {
    if (this.#phase !== 'launching' || !(this.#ledger as Ledger).allStarted) return;
    this.#phase = 'running';
    this.#launchTimer?.cancel();
    this.#emit({ type: 'running' });
  }

  #onExited(host: HostIndex, ends: readonly RankEnd[]): void {
    if (this.#phase === 'over') return;
    const ledger = this.#ledger as Ledger;
    checkRanks(ledger.placements, ledger.map, host, ends.map(({ rank }) => rank));
    for (const end of ends) {
      const entry = ledger.exited(end, this.#now());
      if (!entry.counted) continue;
      const report = ledger.rankReport(end.rank);
      if (report !== undefined) this.#emit({ type: 'exited', report });
      if (entry.failure !== undefined) this.#onFailure(entry.failure);
    }
    this.#checkRunning();
    this.#checkOver();
  }

  #onDrained({ host, swept, survivors }: MessageBody<'job.drained'>): void {
    const ledger = this.#ledger;
    if (ledger === undefined || this.#phase === 'over') return;
    this.#undrained.delete(host);
    ledger.drained(host, swept);
    const error = survivorsError(ledger.spec.hosts, host, survivors);
    const found = error && { ...failureOf('tool-survived', error, this.#now()), host };
    if (found !== undefined && ledger.failed(found)) this.#onFailure(found);
    this.#checkOver();
  }

  /** During the bootstrap, a root agent's failure is the bootstrap's; a session agent's is always the job's. */
  #onAgentFailed(agent: Address, error: StciError): void {
    if (addressKind(agent) === 'root') this.#bootstrap?.onFailed(agent, error);
    else this.#onAgentLost(agent, error);
  }

  /** An agent below is lost; with a root agent its whole subtree is. */
  #onAgentLost(agent: Address, error: StciError): void {
    const ledger = this.#ledger;
    if (ledger === undefined || this.#phase === 'over') return;
    const host = addressIndex(agent);
    const gone = addressKind(agent) === 'root' ? (this.#bootstrap as Bootstrap).below.hostsBelow(host) : [host];
    const kind = error.code === 'STCI_LAUNCH_FAILED' ? 'agent-launch' : 'agent-lost';
    const record = toErrorRecord(error);
    const found = gone.flatMap((each) =>
      this.#loseHost(each, each === host ? record : cutOffRecord(ledger.spec.hosts, each, host), kind),
    );
    // All losses are reported before the first decision, because a decision may end the job.
    for (const { error } of found) this.#emit({ type: 'failure', error });
    for (const one of found) this.#applyPolicy(one);
    this.#checkRunning();
    this.#checkOver();
  }

  #loseHost(host: HostIndex, error: ErrorRecord, kind: 'agent-launch' | 'agent-lost'): Failure[] {
    const ledger = this.#ledger as Ledger;
    if (this.#lost.has(host)) return [];
    this.#lost.add(host);
    this.#undrained.delete(host);
    this.#send('job.host.lost', { host });
    const entry = ledger.agentLost(host, error, this.#now());
    for (const rank of entry.ranks) {
      const report = ledger.rankReport(rank);
      if (report !== undefined) this.#emit({ type: 'exited', report });
    }
    return entry.failure === undefined ? [] : [{ ...entry.failure, kind }];
  }

  #onFailure(found: Failure): void {
    this.#emit({ type: 'failure', error: found.error });
    this.#applyPolicy(found);
  }

  #applyPolicy(found: Failure): void {
    const ledger = this.#ledger as Ledger;
    const context: FailureContext = {
      phase: this.#phase === 'launching' ? 'launching' : this.#phase === 'running' ? 'running' : 'ending',
      ranksAlive: ledger.ranksAlive,
      failuresBefore: ledger.failureCount - 1,
    };
    if (this.#errorManager.decide(found, context).action === 'end-job') this.#endJob(false, found.error.message);
  }

  #onControl(control: JobControl): void {
    if (this.#ledger === undefined || this.#phase === 'over' || this.#phase === 'idle') return;
    if (control.verb === 'signal') {
      this.#node.messages.sendSubtree('job.signal', { signal: control.signal }, this.#jobs);
      return;
    }
    if (control.cause !== undefined) {
      const { cause } = control;
      this.#record({ kind: cause.kind, error: cause.error, wallMs: this.#now(), exitCode: cause.exitCode });
    }
    this.#endJob(control.kill, control.reason);
  }

  #record(found: Failure): void {
    if ((this.#ledger as Ledger).failed(found)) this.#emit({ type: 'failure', error: found.error });
  }

  #onLaunchTimeout(timeoutMs: number): void {
    if (this.#phase !== 'launching') return;
    const missing = this.#launched ? [] : (this.#bootstrap as Bootstrap).missing;
    this.#forceEnd('timeout', launchTimeoutError(timeoutMs, missing, (this.#ledger as Ledger).ranksOpen));
  }

  /** In any case, neither a host nor a reader of output delays the end further. A job that is ending has its cause. */
  #onJobTimeout(timeoutMs: number): void {
    if (this.#phase !== 'ending') {
      this.#forceEnd('timeout', jobTimeoutError(timeoutMs, (this.#ledger as Ledger).ranksOpen));
    }
    const { params, platform } = this.#node;
    this.#jobTimer = platform.clock.after(params.int('tool.grace') + END_REPORT_MS, () => {
      this.#forced = true;
      this.#checkOver();
    });
  }

  /** Without asking the error manager: the user set the deadline, and a job that does not fit its hosts cannot run. */
  #forceEnd(kind: 'timeout' | 'agent-launch', error: StciError): void {
    this.#record(failureOf(kind, error, this.#now()));
    this.#endJob(false, error.message);
  }

  #endJob(kill: boolean, reason: string): void {
    const ledger = this.#ledger as Ledger;
    if (this.#phase === 'over') return;
    const first = this.#phase !== 'ending';
    this.#phase = 'ending';
    this.#launchTimer?.cancel();
    if (first) this.#emit({ type: 'ending', reason });
    this.#bootstrap?.abandon();
    if (this.#launched) this.#sendEnd(kill, reason);
    else this.#undrained.clear();
    if (!this.#launched) ledger.closeUnstarted();
    this.#forced ||= kill;
    const { params, platform } = this.#node;
    this.#endTimer ??= platform.clock.after(params.int('tool.grace') + END_REPORT_MS, () => this.#onEndOverdue());
    this.#checkOver();
  }

  /** Sent once, and again only to kill the ranks: further failures of an ending job change nothing for its hosts. */
  #sendEnd(kill: boolean, reason: string): void {
    if (this.#endSent === 'kill' || (this.#endSent === 'term' && !kill)) return;
    this.#endSent = kill ? 'kill' : 'term';
    this.#node.messages.sendSubtree('job.end', { kill, reason }, this.#jobs);
  }

  /** Output may take as long as its reader needs; the ends of the ranks may not. */
  #onEndOverdue(): void {
    if ((this.#ledger as Ledger).complete) return;
    this.#sendEnd(true, 'the job does not end');
    this.#endTimer = this.#node.platform.clock.after(END_REPORT_MS, () => this.#giveUp());
  }

  /** Gives up hosts that do not answer and whose leases have not run out. */
  #giveUp(): void {
    const ledger = this.#ledger as Ledger;
    if (ledger.complete) return;
    for (const place of ledger.map.hosts) {
      if ([...ranksOf(place)].every((rank) => ledger.rankReport(rank) !== undefined)) continue;
      const error = toErrorRecord(unansweredHostError(ledger.spec.hosts, place.host));
      const found = this.#loseHost(place.host, error, 'agent-lost');
      for (const lost of found) this.#emit({ type: 'failure', error: lost.error });
    }
    this.#over();
  }

  #checkOver(): void {
    const ledger = this.#ledger;
    if (ledger === undefined || this.#phase === 'over' || this.#phase === 'idle') return;
    if (!ledger.complete) return;
    if (this.#undrained.size === 0) return this.#over();
    // A forced end waits for the last processes to be killed, not for the reader of output.
    if (this.#forced) this.#drainTimer ??= this.#node.platform.clock.after(DRAIN_MS, () => this.#over());
  }

  #over(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#cancelTimers();
    const report = (this.#ledger as Ledger).report(this.#now());
    // In parts: a report of many ranks, or of failures with long texts, would exceed the largest message.
    for (const error of report.failures) this.#send('job.failure', { error });
    this.#emit({ type: 'ended', report: { ...report, ranks: [], failures: [] } });
  }

  #emit(event: JobEvent): void {
    this.#send('job.event', event);
  }

  #send<Name extends 'job.event' | 'job.failure' | 'job.host.lost'>(name: Name, body: MessageBody<Name>): void {
    try {
      this.#node.messages.send(FRONT_END, name, body, this.#jobs);
    } catch (fault) {
      this.#node.fault(fault, 'front-end'); // The front-end has gone: the end of its link stops the session.
    }
  }

  #cancelTimers(): void {
    for (const timer of [this.#launchTimer, this.#jobTimer, this.#endTimer, this.#drainTimer]) timer?.cancel();
  }

  #now(): number {
    return this.#node.platform.clock.wallMs();
  }
}
