/**
 * Controller (STCI paper, II-A): one per session. It has the allocation's agents started along the boot tree, runs any
 * number of jobs on them, one beside the other, and ends them. What happens to one job is in controller-job.ts.
 */

import {
  JOB_MAX, StciError, addressIndex, addressKind, toErrorRecord, type Address, type Allocation,
  type HostIndex, type HostSpec, type JobEvent, type JobId, type JobSpec,
} from '@stci/interface';
import type { RankEnd } from '../job/ledger.js';
import { Bootstrap, type BootstrapFailure } from './bootstrap.js';
import { ControllerJob, type JobSession } from './controller-job.js';
import { Expulsion } from './expulsion.js';
import { cutOffRecord } from './job-failures.js';
import { bootTreeOf, type Launch } from './job-launch.js';
import type { AgentNode } from './node.js';
import type { AgentLauncher } from './agent-launcher.js';
import type { AgentScope, ParamSnapshot } from './composition.js';
import type { HostStatus } from '../session/contracts.js';

export interface ControllerDeps {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly agentLauncher: AgentLauncher;
  readonly snapshot: ParamSnapshot;
  readonly observer?: SessionObserver | undefined;
}

/** Of the start of a session's agents, besides what its jobs are told. */
export interface SessionObserver {
  onEvent(event: JobEvent): void;
  /** All wanted hosts are up. */
  onReady(): void;
  onAborted(failures: readonly BootstrapFailure[]): void;
}

/** All wanted hosts are up; those left out have no agent. */
interface Ready {
  readonly hosts: readonly HostSpec[];
  readonly leftOut: ReadonlySet<HostIndex>;
}

export class Controller implements JobSession {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly #deps: ControllerDeps;
  readonly #expulsion: Expulsion;
  #allocation: Allocation | undefined;
  #bootstrap: Bootstrap | undefined;
  #ready: Ready | undefined;
  /** Why the launch of the session's agents was aborted. */
  #aborted: readonly BootstrapFailure[] | undefined;
  readonly #jobs = new Map<JobId, ControllerJob>();
  #lastJob = 0;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    this.node = deps.node;
    this.scope = deps.scope;
    this.#expulsion = new Expulsion({
      node: deps.node,
      bootstrap: () => this.#bootstrap,
      // During the bootstrap, the agents that start hosts report their loss.
      onLost: (agent, job, error) => this.#ready !== undefined && this.#onAgentLost(agent, job, error),
    });
    this.#listen();
  }

  /** Starts the agents of all hosts. Throws StciError if they cannot be started; nothing has been started then. */
  open(allocation: Allocation): void {
    if (this.#allocation !== undefined) throw new StciError('STCI_JOB_INVALID', 'The session is open already');
    const { hosts, spares } = allocation;
    if (hosts.length === 0) throw new StciError('STCI_JOB_INVALID', 'Expected at least one host, got none');
    const { scope, agentLauncher, snapshot } = this.#deps;
    agentLauncher.selectLauncherProc([...hosts, ...spares]);
    const tree = bootTreeOf(scope, hosts.length, this.node.params);
    this.#allocation = allocation;
    this.#bootstrap = new Bootstrap(
      { node: this.node, agentLauncher, tree, policy: scope.bootstrapPolicy(), hosts, spares, snapshot },
      {
        emit: (event) => {
          this.#deps.observer?.onEvent(event);
          for (const job of this.#jobs.values()) if (job.isLaunching) job.emit(event);
        },
        onReady: (now, leftOut) => this.#onReady({ hosts: now, leftOut }),
        onAborted: (failures) => this.#onAborted(failures),
        onLost: (agent, error) => this.#onAgentLost(agent, 0, error),
      },
    );
    this.#bootstrap.start();
  }

  /** Ends all agents; calls `done` when none is left. */
  stop(done: () => void): void {
    for (const job of this.#jobs.values()) job.close();
    if (this.#bootstrap === undefined) done();
    else this.#bootstrap.stop(done);
  }

  /** For `stci ps`. */
  hosts(): readonly HostStatus[] {
    const { hosts } = this.#ready ?? this.#allocation ?? { hosts: [] };
    const taken = this.slotsTaken();
    const stateOf = (host: HostIndex): HostStatus['state'] =>
      this.#ready === undefined ? 'starting' : this.#ready.leftOut.has(host) ? 'lost' : 'up';
    return hosts.map((spec, host) => ({ host, spec, state: stateOf(host), used: taken[host] ?? 0 }));
  }

  missing(): readonly string[] {
    return (this.#bootstrap as Bootstrap).missing;
  }

  slotsTaken(job?: JobId): readonly number[] {
    const taken: number[] = [];
    for (const other of this.#jobs.values()) {
      if (other.job === job) continue;
      for (const { host, runs } of other.map.hosts) {
        taken[host] = (taken[host] ?? 0) + runs.reduce((sum, { count }) => sum + count, 0);
      }
    }
    return taken;
  }

  passLaunch(launch: Launch, job: JobId): void {
    (this.#bootstrap as Bootstrap).below.passLaunch(launch, job);
  }

  onOver(job: JobId, launched: boolean): void {
    this.#jobs.delete(job);
    this.node.messages.closeJob(job);
    if (launched) this.#bootstrap?.below.passClose(job);
  }

  #listen(): void {
    const { messages } = this.node;
    messages.on('session.open', (allocation) => this.open(allocation));
    messages.on('job.submit', ({ spec }, { source }) => ({ job: this.#submit(spec, source) }));
    messages.on('job.control', (control, { source, job }) => this.#jobOf(source, job)?.onControl(control));
    messages.on('agent.up', ({ host }) => this.#bootstrap?.onUp(host));
    messages.on('agent.failed', (found, from) => {
      this.#onAgentFailed(found.agent, from.job, this.#expulsion.acceptReport(from, found));
    });
    messages.on('job.started', ({ host, ranks }, { job }) => this.#jobs.get(job)?.onStarted(host, ranks));
    messages.on('job.exited', ({ host, ranks }, { job }) => {
      this.#jobs.get(job)?.onExited(host, ranks as readonly RankEnd[]);
    });
    messages.on('job.drained', (drained, { job }) => this.#jobs.get(job)?.onDrained(drained));
  }

  /** Throws StciError if the job cannot be run; nothing has been started then. */
  #submit(spec: JobSpec, owner: Address): JobId {
    if (this.#allocation === undefined) throw new StciError('STCI_JOB_INVALID', 'The session has no hosts yet');
    if (this.#lastJob === JOB_MAX) {
      throw new StciError('STCI_JOB_INVALID', `A session runs at most ${JOB_MAX} jobs: stop it and start another`);
    }
    const { hosts } = this.#ready ?? this.#allocation;
    const job = new ControllerJob({ session: this, job: this.#lastJob + 1, spec, hosts, owner });
    this.#lastJob = job.job;
    this.#jobs.set(job.job, job);
    job.start();
    if (this.#ready !== undefined) job.onReady(this.#ready.hosts, this.#ready.leftOut);
    else if (this.#aborted !== undefined) job.onAborted(this.#aborted);
    return job.job;
  }

  /** Without a number: the one that this front-end submitted last. */
  #jobOf(owner: Address, job: JobId): ControllerJob | undefined {
    if (job !== 0) return this.#jobs.get(job);
    return [...this.#jobs.values()].reverse().find((each) => each.owner === owner);
  }

  #onReady(ready: Ready): void {
    this.#ready = ready;
    this.#deps.observer?.onReady();
    for (const job of [...this.#jobs.values()]) job.onReady(ready.hosts, ready.leftOut);
  }

  #onAborted(failures: readonly BootstrapFailure[]): void {
    this.#aborted = failures;
    this.#deps.observer?.onAborted(failures);
    for (const job of [...this.#jobs.values()]) job.onAborted(failures);
  }

  /** During the bootstrap, a root agent's failure is the bootstrap's; a session agent's is always its job's. */
  #onAgentFailed(agent: Address, job: JobId, error: StciError): void {
    if (addressKind(agent) === 'root') this.#bootstrap?.onFailed(agent, error);
    else this.#onAgentLost(agent, job, error);
  }

  /** An agent below is lost: a session agent to its job, a root agent with its whole subtree to all jobs. */
  #onAgentLost(agent: Address, jobOfAgent: JobId, error: StciError): void {
    const host = addressIndex(agent);
    const kind = error.code === 'STCI_LAUNCH_FAILED' ? 'agent-launch' : 'agent-lost';
    const own = { host, kind, error: toErrorRecord(error) } as const;
    if (addressKind(agent) !== 'root') return this.#jobs.get(jobOfAgent)?.onHostsLost([own]);
    const { below, hosts } = this.#bootstrap as Bootstrap;
    const losses = below.hostsBelow(host).map((each) =>
      each === host ? own : ({ host: each, kind, error: cutOffRecord(hosts, each, host) } as const),
    );
    const leftOut = new Set(this.#ready?.leftOut);
    for (const loss of losses) leftOut.add(loss.host);
    if (this.#ready !== undefined) this.#ready = { ...this.#ready, leftOut };
    for (const job of [...this.#jobs.values()]) job.onHostsLost(losses);
  }
}
