/**
 * Root agent (STCI paper, II-A): one per host. Starts the root agents below it in the boot tree and a session agent for
 * each job, forwards a job's launch, reports failures to the controller. It stops when its parent asks or is gone,
 * after all agents below it.
 */

import {
  CONTROLLER,
  addressIndex,
  bootPosition,
  sessionAddress,
  toErrorRecord,
  type Address,
  type AgentMethod,
  type HostIndex,
  type JobId,
  type StciError,
  type TreeTopology,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { encodeBootDetails, hostSpec, type BootDetails } from './boot-details.js';
import { BootSubtree, loginsOf, type HostLogin } from './boot-subtree.js';
import type { ChildSupervisor } from './child-supervisor.js';
import type { Launch } from './job-launch.js';
import type { AgentNode } from './node.js';
import type { AgentLauncher } from './agent-launcher.js';

export interface RootDeps {
  readonly node: AgentNode;
  readonly details: BootDetails;
  readonly tree: TreeTopology;
  readonly agentLauncher: AgentLauncher;
  /** Ends this agent as failed; the agent that started it reports the reason. */
  readonly fail: (reason: string) => void;
}

/** What a session agent that is not up yet will be sent. */
interface LocalJob {
  readonly launch?: Launch;
  /** May come before the launch: all agents forward it at once, but each handles the launch before it passes it on. */
  readonly end?: MessageBody<'job.end'>;
}

export class RootAgent {
  readonly #deps: RootDeps;
  readonly #host: HostIndex;
  readonly #below: BootSubtree;
  readonly #sessions: ChildSupervisor;
  readonly #jobs = new Map<JobId, LocalJob>();
  #stopping = false;

  constructor(deps: RootDeps) {
    this.#deps = deps;
    const { node, agentLauncher, tree, details } = deps;
    this.#host = details.host;
    const events = {
      onFailed: (agent: Address, error: StciError, job: JobId) => this.#report('agent-launch', agent, error, job),
      onLost: (agent: Address, error: StciError, job: JobId) => this.#report('agent-lost', agent, error, job),
    };
    const position = bootPosition(details.host);
    const { hosts, arity, params } = details;
    const logins = loginsOf(tree, position, details.subtree);
    this.#below = new BootSubtree(
      { node, agentLauncher, tree, position, logins, common: { hosts, arity, params } },
      { ...events, onUp: () => undefined },
    );
    this.#sessions = agentLauncher.supervise({ ...events, onUp: (_agent, job) => this.#onSessionUp(job) });
    const { messages } = node;
    messages.on('job.launch', (launch, { job }) => this.#onLaunch(launch, job));
    messages.on('job.signal', () => undefined); // The subtree frame itself is forwarded to the session agent.
    messages.on('job.end', (end, { job }) => this.#onJobEnd(end, job));
    messages.on('job.close', (_body, { job }) => this.#onJobClose(job));
    messages.on('launch.restart', ({ host, subtree }) => this.#below.restart(host, subtree));
    messages.on('agent.expel', ({ agent, reason }, { job }) => this.#expel(agent, reason, job));
    messages.on('launch.takeover', ({ host, subtree }) => this.#below.takeOver(host, subtree));
  }

  /** Starts the agents below, and reports to the controller that this one is up once others can link to it. */
  start(): void {
    const { node, agentLauncher, fail } = this.#deps;
    agentLauncher.ready((error) => {
      if (this.#stopping) return;
      if (error !== undefined) {
        node.fault(error, 'listener');
        return fail(error.message);
      }
      this.#below.start();
      node.messages.send(CONTROLLER, 'agent.up', {
        host: this.#host,
        pid: node.platform.env.pid,
        hostname: node.platform.env.hostname,
      });
    });
  }

  /** Stops the session agent with its tools and the root agents below at the same time. */
  stop(done: () => void): void {
    this.#stopping = true;
    let missing = 2;
    const one = (): void => {
      missing -= 1;
      if (missing > 0) return;
      this.#deps.agentLauncher.close();
      done();
    };
    this.#sessions.stop('the root agent stops', one);
    this.#below.stop('the parent agent stops', one);
  }

  #onLaunch(launch: Launch, job: JobId): void {
    const own = launch.hosts.filter(([host]) => host === this.#host);
    if (own.length > 0) this.#startSession({ ...launch, hosts: own }, job);
    this.#below.passLaunch(launch, job);
  }

  #startSession(launch: Launch, job: JobId): void {
    const { details, node, agentLauncher } = this.#deps;
    const local = this.#jobs.get(job) ?? {};
    if (local.launch !== undefined) return;
    this.#jobs.set(job, { ...local, launch });
    const login = details.subtree[0] as HostLogin;
    const method = node.params.string('launcher.session.method') as AgentMethod;
    const start = { address: sessionAddress(this.#host), host: hostSpec(login, this.#host), method };
    agentLauncher.ready(() => {
      if (!this.#jobs.has(job)) return;
      const child: BootDetails = { ...details, subtree: [login], ...agentLauncher.connection() };
      this.#sessions.launch([agentLauncher.sessionSpec(start, job, encodeBootDetails(child))]);
    });
  }

  /** An end that came first is sent before the launch, so that the session agent starts no tool. */
  #onSessionUp(job: JobId): void {
    const { node } = this.#deps;
    const link = node.router.link(sessionAddress(this.#host), job);
    const { launch, end } = this.#jobs.get(job) ?? {};
    if (link === undefined || launch === undefined) return;
    if (end !== undefined) node.messages.sendNeighbour(link, 'job.end', end, job);
    node.messages.sendNeighbour(link, 'job.launch', launch, job);
  }

  /** The frame was forwarded to the links that were up; the session agent's may have come up since. */
  #onJobEnd(end: MessageBody<'job.end'>, job: JobId): void {
    const { node } = this.#deps;
    this.#jobs.set(job, { ...this.#jobs.get(job), end });
    const link = node.router.link(sessionAddress(this.#host), job);
    if (link !== undefined) node.messages.sendNeighbour(link, 'job.end', end, job);
  }

  #onJobClose(job: JobId): void {
    this.#below.passClose(job);
    this.#jobs.delete(job);
    this.#deps.node.messages.closeJob(job);
    if (!this.#stopping) this.#sessions.release(sessionAddress(this.#host), job, 'the job is over');
  }

  #expel(agent: Address, reason: string, job: JobId): void {
    if (agent === sessionAddress(this.#host)) this.#sessions.expel(agent, reason, job);
    else this.#below.expel(addressIndex(agent), reason);
  }

  #report(kind: 'agent-launch' | 'agent-lost', agent: Address, error: StciError, job: JobId): void {
    const { node } = this.#deps;
    try {
      const wallMs = node.platform.clock.wallMs();
      node.messages.send(CONTROLLER, 'agent.failed', { kind, agent, error: toErrorRecord(error), wallMs }, job);
    } catch (fault) {
      node.fault(fault, 'report of a failure'); // The parent is gone: this agent is about to end.
    }
  }
}
