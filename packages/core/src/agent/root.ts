/**
 * Root agent (STCI paper, II-A): one a host. Starts the root agents below it in the boot tree and the session agent
 * of a job, splits a job's launch among them, tells the controller what failed. It ends when its parent says so or is
 * gone, last of all that is below it.
 */

import {
  CONTROLLER,
  StciError,
  addressIndex,
  addressKind,
  bootHost,
  bootPosition,
  rootAddress,
  sessionAddress,
  toErrorRecord,
  type Address,
  type AgentMethod,
  type HostIndex,
  type TreeTopology,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { encodeBootDetails, hostSpec, subtreeSlice, type BootDetails } from './boot-details.js';
import { Children, type ChildSpec } from './children.js';
import type { AgentNode } from './node.js';
import type { Starter } from './starter.js';

type Launch = MessageBody<'job.launch'>;

export interface RootDeps {
  readonly node: AgentNode;
  readonly details: BootDetails;
  readonly tree: TreeTopology;
  readonly starter: Starter;
}

export class RootAgent {
  readonly #deps: RootDeps;
  readonly #host: HostIndex;
  readonly #roots: Children;
  readonly #sessions: Children;
  #launch: Launch | undefined;
  /** The job's end may overtake the start of its session agent, which must learn of it all the same. */
  #jobEnd: MessageBody<'job.end'> | undefined;

  constructor(deps: RootDeps) {
    this.#deps = deps;
    this.#host = deps.details.host;
    const { node, starter } = deps;
    const events = {
      onFailed: (agent: Address, error: StciError) => this.#report('agent-launch', agent, error),
      onLost: (agent: Address, error: StciError) => this.#report('agent-lost', agent, error),
    };
    this.#roots = starter.children({ ...events, onUp: () => undefined });
    this.#sessions = starter.children({ ...events, onUp: () => this.#onSessionUp() });
    node.messages.on('job.launch', (launch) => this.#onLaunch(launch));
    node.messages.on('job.signal', () => undefined); // Passed on to the session agent by the subtree frame itself.
    node.messages.on('job.end', (end) => void (this.#jobEnd = end));
    this.#routeByTree();
  }

  /** Starts the agents below, and tells the controller that this one runs. */
  start(): void {
    const { node, starter } = this.#deps;
    starter.ready((error) => {
      if (error !== undefined) return node.fault(error, 'listener');
      this.#roots.launch(this.#childSpecs());
    });
    node.messages.send(CONTROLLER, 'agent.up', {
      host: this.#host,
      pid: node.platform.env.pid,
      hostname: node.platform.env.hostname,
    });
  }

  /** Ends what is below: the tools of the session agent and the root agents beneath at the same time. */
  stop(done: () => void): void {
    let missing = 2;
    const one = (): void => {
      missing -= 1;
      if (missing > 0) return;
      this.#deps.starter.close();
      done();
    };
    this.#sessions.stop('the root agent stops', one);
    this.#roots.stop('the parent agent stops', one);
  }

  #routeByTree(): void {
    const { node, tree } = this.#deps;
    const self = bootPosition(this.#host);
    node.router.rule = (destination) => {
      const kind = addressKind(destination);
      if (kind !== 'root' && kind !== 'session') return undefined;
      const host = addressIndex(destination);
      if (host === this.#host) return destination;
      const target = bootPosition(host);
      if (target >= tree.size || !tree.isAncestor(self, target)) return undefined;
      const hop = tree.nextHop(self, target);
      return hop === undefined ? undefined : rootAddress(bootHost(hop));
    };
  }

  #childSpecs(): ChildSpec[] {
    const { details, tree, node, starter } = this.#deps;
    const method = node.params.string('launcher.root.method') as AgentMethod;
    return tree.children(bootPosition(this.#host)).map((position) => {
      const host = bootHost(position);
      const subtree = subtreeSlice(tree, this.#host, details.subtree, host);
      const spec = hostSpec(subtree[0] as readonly [string, string], host);
      const child: BootDetails = { ...details, host, subtree, connect: starter.addresses() };
      return starter.rootSpec({ address: rootAddress(host), host: spec, method }, encodeBootDetails(child));
    });
  }

  #onLaunch(launch: Launch): void {
    const { node, tree } = this.#deps;
    const own = launch.hosts.filter(([host]) => host === this.#host);
    if (own.length > 0) this.#startSession({ ...launch, hosts: own });
    for (const position of tree.children(bootPosition(this.#host))) {
      const below = launch.hosts.filter(([host]) => isAtOrBelow(tree, position, bootPosition(host)));
      const link = node.router.link(rootAddress(bootHost(position)));
      if (below.length === 0 || link === undefined) continue;
      node.messages.sendNeighbour(link, 'job.launch', { ...launch, hosts: below });
    }
  }

  #startSession(launch: Launch): void {
    const { details, node, starter } = this.#deps;
    this.#launch = launch;
    const method = node.params.string('launcher.session.method') as AgentMethod;
    const host = hostSpec(details.subtree[0] as readonly [string, string], this.#host);
    const start = { address: sessionAddress(this.#host), host, method };
    starter.ready(() => {
      const child: BootDetails = { ...details, subtree: [[host.name, host.user ?? '']], connect: starter.addresses() };
      this.#sessions.launch([starter.sessionSpec(start, encodeBootDetails(child))]);
    });
  }

  #onSessionUp(): void {
    const { node } = this.#deps;
    const link = node.router.link(sessionAddress(this.#host));
    if (link === undefined || this.#launch === undefined) return;
    node.messages.sendNeighbour(link, 'job.launch', this.#launch);
    if (this.#jobEnd !== undefined) node.messages.sendNeighbour(link, 'job.end', this.#jobEnd);
  }

  #report(kind: 'agent-launch' | 'agent-lost', agent: Address, error: StciError): void {
    const { node } = this.#deps;
    try {
      const wallMs = node.platform.clock.wallMs();
      node.messages.send(CONTROLLER, 'agent.failed', { kind, agent, error: toErrorRecord(error), wallMs });
    } catch (fault) {
      node.fault(fault, 'report of a failure'); // The parent is gone: this agent is about to end.
    }
  }
}

export function isAtOrBelow(tree: TreeTopology, top: number, position: number): boolean {
  return top === position || tree.isAncestor(top, position);
}
