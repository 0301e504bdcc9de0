/**
 * Controller (STCI paper, II-A): keeps the representation of a job, has its agents started along the boot tree,
 * and ends it. It decides nothing about failures: each one goes to the error manager, and only what comes back is done.
 *
 * A job's phases: launching (roots come up, the launch goes down) → running (every rank was started) → ending (the
 * error manager, the user or a deadline said so) → over (every rank has its outcome and every session agent that is
 * left has drained).
 */

import {
  FRONT_END,
  StciError,
  addressIndex,
  addressKind,
  bootHost,
  bootPosition,
  fromErrorRecord,
  rootAddress,
  toErrorRecord,
  type Address,
  type AgentMethod,
  type ErrorManager,
  type ErrorRecord,
  type Failure,
  type FailureContext,
  type HostIndex,
  type JobControl,
  type JobEvent,
  type JobSpec,
  type Timer,
  type TreeTopology,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { createLedger, type Ledger, type RankEnd } from '../job/ledger.js';
import { mapJob } from '../job/map.js';
import { validateJob } from '../job/validate.js';
import { encodeBootDetails, type BootDetails } from './boot-details.js';
import type { Children, ChildSpec } from './children.js';
import { failureOf, orphaned, some } from './job-failures.js';
import { JobLaunch, creditBytes } from './job-launch.js';
import type { AgentNode } from './node.js';
import { isAtOrBelow } from './root.js';
import type { Starter } from './starter.js';
import type { AgentScope, ParamSnapshot } from './universe.js';

/** How long, after their grace, the ends of ranks are awaited before all is killed, and then before it is over. */
const END_REPORT_MS = 5000;

export interface ControllerDeps {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly starter: Starter;
  readonly snapshot: ParamSnapshot;
}

type Phase = 'idle' | 'launching' | 'running' | 'ending' | 'over';

export class Controller {
  readonly #deps: ControllerDeps;
  readonly #node: AgentNode;
  readonly #errorManager: ErrorManager;
  readonly #roots: Children;
  #phase: Phase = 'idle';
  #tree: TreeTopology | undefined;
  #ledger: Ledger | undefined;
  #launch: JobLaunch | undefined;
  #jobs = 0;
  /** Hosts whose root agent runs. */
  readonly #up = new Set<HostIndex>();
  /** Hosts that are lost: nothing is expected of them any more. */
  readonly #lost = new Set<HostIndex>();
  /** Hosts that have ranks and have not drained. */
  readonly #undrained = new Set<HostIndex>();
  #launched = false;
  #launchTimer: Timer | undefined;
  #jobTimer: Timer | undefined;
  #endTimer: Timer | undefined;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    this.#node = deps.node;
    this.#errorManager = deps.scope.errorManager();
    this.#roots = deps.starter.children({
      onUp: () => undefined,
      onFailed: (agent, error) => this.#onAgentFailed('agent-launch', agent, error),
      onLost: (agent, error) => this.#onAgentFailed('agent-lost', agent, error),
    });
    this.#listen();
  }

  /** Ends all agents; `done` when none is left. */
  stop(done: () => void): void {
    for (const timer of [this.#launchTimer, this.#jobTimer, this.#endTimer]) timer?.cancel();
    this.#phase = 'over';
    this.#roots.stop('the session ends', () => {
      this.#deps.starter.close();
      done();
    });
  }

  #listen(): void {
    const { messages } = this.#node;
    messages.on('job.submit', ({ spec }) => ({ job: this.#submit(spec) }));
    messages.on('job.control', (control) => this.#onControl(control));
    messages.on('agent.up', ({ host }) => this.#onHostUp(host));
    messages.on('agent.failed', ({ kind, agent, error }) => this.#onAgentFailed(kind, agent, fromErrorRecord(error)));
    messages.on('job.started', ({ host, ranks }) => this.#onStarted(host, ranks));
    messages.on('job.exited', ({ ranks }) => this.#onExited(ranks as readonly RankEnd[]));
    messages.on('job.drained', ({ host }) => this.#onDrained(host));
  }

  /** Throws StciError where the job cannot be run: nothing has been started then. */
  #submit(spec: JobSpec): number {
    if (this.#phase !== 'idle') throw new StciError('STCI_JOB_INVALID', 'This controller runs a job already');
    const { params, platform } = this.#node;
    validateJob(spec);
    const map = mapJob(spec, {
      ranksMax: params.int('job.size.max'),
      ranksPerHostMax: params.int('job.ranks.per.host.max'),
    });
    this.#deps.starter.selectLauncherProc(spec.hosts);
    this.#jobs += 1;
    this.#tree = this.#deps.scope.bootTree(spec.hosts.length, this.#deps.scope.launcher().arity(spec.hosts.length));
    this.#ledger = createLedger({ job: this.#jobs, spec, map, submitWallMs: platform.clock.wallMs() });
    this.#launch = new JobLaunch(this.#node.sessionName, this.#jobs, spec, map, creditBytes(params, spec.hosts.length));
    for (const host of this.#launch.hosts) this.#undrained.add(host);
    this.#phase = 'launching';
    this.#routeByTree(this.#tree);
    this.#tell({ type: 'mapped', map });
    this.#armDeadlines(spec);
    this.#startRoots(spec, this.#tree);
    return this.#jobs;
  }

  #armDeadlines(spec: JobSpec): void {
    const { clock } = this.#node.platform;
    this.#launchTimer = clock.after(spec.launchTimeoutMs, () => this.#onLaunchTimeout(spec.launchTimeoutMs));
    const { timeoutMs } = spec;
    if (timeoutMs !== undefined) this.#jobTimer = clock.after(timeoutMs, () => this.#onJobTimeout(timeoutMs));
  }

  #routeByTree(tree: TreeTopology): void {
    this.#node.router.rule = (destination) => {
      const kind = addressKind(destination);
      const target = bootPosition(addressIndex(destination));
      if ((kind !== 'root' && kind !== 'session') || target >= tree.size) return undefined;
      const hop = tree.nextHop(0, target);
      return hop === undefined ? undefined : rootAddress(bootHost(hop));
    };
  }

  #startRoots(spec: JobSpec, tree: TreeTopology): void {
    const { starter, snapshot } = this.#deps;
    const method = this.#node.params.string('launcher.root.method') as AgentMethod;
    starter.ready((error) => {
      if (error !== undefined) return this.#fail(failureOf('agent-launch', error, this.#now()));
      const specs = tree.children(0).map((position): ChildSpec => {
        const host = bootHost(position);
        const subtree = tree.subtree(position).map((at): readonly [string, string] => {
          const { name, user } = spec.hosts[bootHost(at)] as (typeof spec.hosts)[number];
          return [name, user ?? ''];
        });
        const details: BootDetails = {
          host,
          hosts: spec.hosts.length,
          arity: tree.arity,
          subtree,
          connect: starter.addresses(),
          params: snapshot,
        };
        const start = { address: rootAddress(host), host: spec.hosts[host] as (typeof spec.hosts)[number], method };
        return starter.rootSpec(start, encodeBootDetails(details));
      });
      this.#roots.launch(specs);
    });
  }

  #onHostUp(host: HostIndex): void {
    const ledger = this.#ledger;
    if (ledger === undefined || this.#up.has(host) || this.#phase === 'over') return;
    this.#up.add(host);
    const hosts = ledger.spec.hosts;
    this.#tell({ type: 'host-up', host, name: hosts[host]?.name ?? '', up: this.#up.size, total: hosts.length });
    this.#checkLaunch();
  }

  /** All that can come up is up: the job goes down the tree. */
  #checkLaunch(): void {
    const ledger = this.#ledger as Ledger;
    if (this.#launched || this.#phase !== 'launching') return;
    if (this.#up.size + this.#countLostNotUp() < ledger.spec.hosts.length) return;
    this.#launched = true;
    const tree = this.#tree as TreeTopology;
    for (const position of tree.children(0)) {
      const link = this.#node.router.link(rootAddress(bootHost(position)));
      const body = (this.#launch as JobLaunch).below((host) => isAtOrBelow(tree, position, bootPosition(host)));
      if (link !== undefined && body !== undefined) this.#node.messages.sendNeighbour(link, 'job.launch', body);
    }
    this.#checkOver();
  }

  #countLostNotUp(): number {
    let count = 0;
    for (const host of this.#lost) if (!this.#up.has(host)) count += 1;
    return count;
  }

  #onStarted(host: HostIndex, ranks: MessageBody<'job.started'>['ranks']): void {
    const ledger = this.#ledger as Ledger;
    for (const [rank, pid, wallMs] of ranks) {
      if (ledger.started(rank, pid, wallMs)) this.#tell({ type: 'started', rank, host, pid, wallMs });
    }
    this.#checkRunning();
  }

  #checkRunning(): void {
    if (this.#phase !== 'launching' || !(this.#ledger as Ledger).allStarted) return;
    this.#phase = 'running';
    this.#launchTimer?.cancel();
    this.#tell({ type: 'running' });
  }

  #onExited(ends: readonly RankEnd[]): void {
    const ledger = this.#ledger as Ledger;
    for (const end of ends) {
      const entry = ledger.exited(end, this.#now());
      if (!entry.counted) continue;
      const report = ledger.rankReport(end.rank);
      if (report !== undefined) this.#tell({ type: 'exited', report });
      if (entry.failure !== undefined) this.#decide(entry.failure);
    }
    this.#checkRunning();
    this.#checkOver();
  }

  #onDrained(host: HostIndex): void {
    this.#undrained.delete(host);
    this.#checkOver();
  }

  /** An agent below is gone; with a root agent its whole subtree is. */
  #onAgentFailed(kind: 'agent-launch' | 'agent-lost', agent: Address, error: StciError): void {
    const ledger = this.#ledger;
    if (ledger === undefined || this.#phase === 'over') return;
    const host = addressIndex(agent);
    const gone = addressKind(agent) === 'root' ? this.#subtreeOf(host) : [host];
    const record = toErrorRecord(error);
    const found = gone.flatMap((each) =>
      this.#loseHost(each, each === host ? record : orphaned(ledger.spec.hosts, each, host), kind),
    );
    // All of them are told before the first decision, which may be the end of the job.
    for (const { error: told } of found) this.#tell({ type: 'failure', error: told });
    for (const one of found) this.#judge(one);
    this.#checkLaunch();
    this.#checkRunning();
    this.#checkOver();
  }

  #subtreeOf(host: HostIndex): HostIndex[] {
    return (this.#tree as TreeTopology).subtree(bootPosition(host)).map(bootHost);
  }

  #loseHost(host: HostIndex, error: ErrorRecord, kind: 'agent-launch' | 'agent-lost'): Failure[] {
    const ledger = this.#ledger as Ledger;
    if (this.#lost.has(host)) return [];
    this.#lost.add(host);
    this.#undrained.delete(host);
    const entry = ledger.agentLost(host, error, this.#now());
    for (const rank of entry.ranks) {
      const report = ledger.rankReport(rank);
      if (report !== undefined) this.#tell({ type: 'exited', report });
    }
    return entry.failure === undefined ? [] : [{ ...entry.failure, kind }];
  }

  /** A failure that belongs to no rank and no host. */
  #fail(found: Failure): void {
    if ((this.#ledger as Ledger).failed(found)) this.#decide(found);
    this.#checkOver();
  }

  #decide(found: Failure): void {
    this.#tell({ type: 'failure', error: found.error });
    this.#judge(found);
  }

  #judge(found: Failure): void {
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
      this.#node.messages.sendSubtree('job.signal', { signal: control.signal });
      return;
    }
    if (control.cause !== undefined) {
      const { cause } = control;
      const found = { kind: cause.kind, error: cause.error, wallMs: this.#now(), exitCode: cause.exitCode };
      if (this.#ledger.failed(found)) this.#tell({ type: 'failure', error: cause.error });
    }
    this.#endJob(control.kill, control.reason);
  }

  #onLaunchTimeout(timeoutMs: number): void {
    const ledger = this.#ledger as Ledger;
    if (this.#phase !== 'launching') return;
    const missing = ledger.spec.hosts.filter((_, host) => !this.#up.has(host)).map(({ name }) => name);
    const what = missing.length > 0 ? `hosts not up: ${some(missing)}` : `${ledger.ranksOpen} ranks not running`;
    const text = `The job was not running ${timeoutMs} ms after it was submitted (--launch-timeout): ${what}`;
    this.#forceEnd(new StciError('STCI_LAUNCH_TIMEOUT', text));
  }

  #onJobTimeout(timeoutMs: number): void {
    const ledger = this.#ledger as Ledger;
    const still = `${ledger.ranksAlive} ranks still ran`;
    const text = `The job was not over ${timeoutMs} ms after it was submitted (--timeout): ${still}`;
    this.#forceEnd(new StciError('STCI_JOB_TIMEOUT', text));
  }

  /** Deadlines are the user's word: no error manager is asked. */
  #forceEnd(error: StciError): void {
    const found = failureOf('timeout', error, this.#now());
    if ((this.#ledger as Ledger).failed(found)) this.#tell({ type: 'failure', error: found.error });
    this.#endJob(false, error.message);
  }

  #endJob(kill: boolean, reason: string): void {
    const ledger = this.#ledger as Ledger;
    if (this.#phase === 'over') return;
    const first = this.#phase !== 'ending';
    this.#phase = 'ending';
    this.#launchTimer?.cancel();
    this.#jobTimer?.cancel();
    if (first) this.#tell({ type: 'ending', reason });
    if (this.#launched) this.#node.messages.sendSubtree('job.end', { kill, reason });
    else this.#undrained.clear();
    if (!this.#launched) ledger.closeUnstarted();
    // A user who insists does not wait for output that nobody takes.
    if (kill && ledger.complete) return this.#over();
    this.#endTimer ??= this.#after(this.#node.params.int('tool.grace') + END_REPORT_MS, () => this.#onEndOverdue());
    this.#checkOver();
  }

  /** Output may take as long as its reader wants; the ends of the ranks may not. */
  #onEndOverdue(): void {
    if ((this.#ledger as Ledger).complete) return;
    this.#node.messages.sendSubtree('job.end', { kill: true, reason: 'the job does not end' });
    this.#endTimer = this.#after(END_REPORT_MS, () => (this.#ledger as Ledger).complete || this.#over());
  }

  #after(delayMs: number, fire: () => void): Timer {
    return this.#node.platform.clock.after(delayMs, fire);
  }

  #checkOver(): void {
    const ledger = this.#ledger;
    if (ledger === undefined || this.#phase === 'over' || this.#phase === 'idle') return;
    if (ledger.complete && this.#undrained.size === 0) this.#over();
  }

  #over(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    for (const timer of [this.#launchTimer, this.#jobTimer, this.#endTimer]) timer?.cancel();
    this.#tell({ type: 'ended', report: (this.#ledger as Ledger).report(this.#now()) });
  }

  #tell(event: JobEvent): void {
    try {
      this.#node.messages.send(FRONT_END, 'job.event', event);
    } catch (fault) {
      this.#node.fault(fault, 'front-end'); // The front-end has gone: its link's end stops the session.
    }
  }

  #now(): number {
    return this.#node.platform.clock.wallMs();
  }
}
