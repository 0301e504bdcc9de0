/**
 * Boot subtree: the part of the boot tree below an agent. It starts the agents in it, routes to each of them, and
 * splits messages among them. Used by the controller, which has the whole tree, and by root agents.
 *
 * The tree is fixed when it is planned; leaving a host out changes links only: the agents below that host are started
 * by the one above it, and routes farther up stay the same.
 */

import {
  StciError,
  addressIndex,
  addressKind,
  bootHost,
  bootPosition,
  rootAddress,
  type Address,
  type AgentMethod,
  type AgentProcess,
  type AgentProcessEvents,
  type HostIndex,
  type JobId,
  type Position,
  type TreeTopology,
} from '@stci/interface';
import { encodeBootDetails, hostSpec, type BootDetails, type HostLogin } from './boot-details.js';
import type { ChildSpec } from './child.js';
import type { ChildSupervisor, SupervisorEvents } from './child-supervisor.js';
import type { MessageBody } from '../am/messages.js';
import type { AdoptionAnswer } from '../membership/mender.js';
import { REACH_FRACTION } from './adoption.js';
import type { Launch } from './job-launch.js';
import type { AgentNode } from './node.js';
import type { AgentLauncher } from './agent-launcher.js';

export type AdoptRequest = Omit<MessageBody<'tree.adopt'>, 'attempt'>;

export interface BootSubtreeInit {
  readonly node: AgentNode;
  readonly agentLauncher: AgentLauncher;
  readonly tree: TreeTopology;
  /** This agent's position: 0 for the controller. */
  readonly position: Position;
  /** Of all positions below, and of this agent's own if it is a host's. */
  readonly logins: ReadonlyMap<Position, HostLogin>;
  /** Details that are the same for all agents. */
  readonly common: Pick<BootDetails, 'hosts' | 'arity' | 'params'>;
}

export class BootSubtree {
  readonly #init: BootSubtreeInit;
  readonly #logins: Map<Position, HostLogin>;
  readonly #leftOut = new Set<Position>();
  /** Next hops to hosts that the mended tree reaches otherwise than the planned one. */
  readonly #mended = new Map<HostIndex, HostIndex>();
  readonly #children: ChildSupervisor;

  constructor(init: BootSubtreeInit, events: SupervisorEvents) {
    this.#init = init;
    this.#logins = new Map();
    for (const [position, login] of init.logins) this.#updateHost(position, login);
    // Root agents on each level below, and a session agent below the last.
    this.#children = init.agentLauncher.supervise(events, init.tree.height + 1, true);
    init.node.router.rule = (destination) => this.#nextHop(destination);
    init.node.pathBelow = (agent) => this.#pathTo(agent);
  }

  get tree(): TreeTopology {
    return this.#init.tree;
  }

  /** Starts all children. */
  start(): void {
    this.#children.launch(this.#childPositions().map((position) => this.#spec(position)));
  }

  /** Starts the agent of `host`, a child that failed, again; `subtree`: the hosts now at and below it. */
  restart(host: HostIndex, subtree: readonly HostLogin[]): void {
    const position = bootPosition(host);
    if (!this.#childPositions().includes(position)) return;
    this.#updateSubtree(position, subtree);
    this.#children.relaunch(this.#spec(position));
  }

  /** Leaves `host`, a child that failed, out: the agents below it become children of this agent. */
  takeOver(host: HostIndex, subtree: readonly HostLogin[]): void {
    const position = bootPosition(host);
    if (this.#leftOut.has(position) || !this.#childPositions().includes(position)) return;
    this.#updateSubtree(position, subtree);
    const adopted = this.#childPositions().filter((at) => isAtOrBelow(this.#init.tree, position, at));
    for (const at of adopted) this.#children.relaunch(this.#spec(at));
  }

  /** Links to the agent of a host below, which runs, and to those that are below it. */
  adopt({ host, incarnation, socket, hosts }: AdoptRequest, done: (answer: AdoptionAnswer) => void): void {
    const { node, agentLauncher } = this.#init;
    const position = bootPosition(host);
    const [name, user] = this.#logins.get(position) as HostLogin;
    const spec = this.#spec(position, [name, user, incarnation]);
    const waitMs = Math.ceil(node.params.int('bootcom.lease') * REACH_FRACTION);
    const connect = (events: AgentProcessEvents): AgentProcess =>
      agentLauncher.reach({ host: spec.host, path: socket, waitMs }, events);
    this.#children.adopt(spec, waitMs, connect, (answer) => {
      if (answer.result === 'adopted') this.route(host, hosts);
      done(answer);
    });
  }

  /** The agents of `hosts` are reached by that of `child`. */
  route(child: HostIndex, hosts: readonly HostIndex[]): void {
    for (const host of hosts) this.#mended.set(host, child);
    this.#init.node.router.clearReachable();
  }

  /** Closes the link to the agent of `host`, a child. */
  expel(host: HostIndex, reason: string): void {
    this.#children.expel(rootAddress(host), reason);
  }

  /** The child of `above` through which the planned tree reaches `host`. */
  plannedHop(above: HostIndex, host: HostIndex): HostIndex | undefined {
    const hop = this.#hop(bootPosition(above), bootPosition(host));
    return hop === undefined ? undefined : bootHost(hop);
  }

  /** Hosts at and below `host`, in pre-order. */
  hostsBelow(host: HostIndex): HostIndex[] {
    return this.#init.tree.subtree(bootPosition(host)).map(bootHost);
  }

  /** Forwards a job's launch, to each child its part. */
  passLaunch(launch: Launch, job: JobId): void {
    const { messages, router } = this.#init.node;
    for (const link of router.childLinks(0)) {
      const hosts = launch.hosts.filter(([host]) => this.#nextHop(rootAddress(host)) === link.peer);
      if (hosts.length > 0) messages.sendNeighbour(link, 'job.launch', { ...launch, hosts }, job);
    }
  }

  /** Forwards the news that a job is over; behind its launch, unlike a message to the subtree. */
  passClose(job: JobId): void {
    const { messages, router } = this.#init.node;
    for (const link of router.childLinks(0)) messages.sendNeighbour(link, 'job.close', {}, job);
  }

  stop(reason: string, done: () => void): void {
    this.#children.stop(reason, done);
  }

  stopRest(done: () => void): void {
    this.#children.stopRest(done);
  }

  /** Below a failed agent, hosts may have been left out or replaced: its replacement needs to know. */
  #updateSubtree(top: Position, subtree: readonly HostLogin[]): void {
    for (const [position, login] of loginsOf(this.#init.tree, top, subtree)) this.#updateHost(position, login);
  }

  #updateHost(position: Position, login: HostLogin): void {
    this.#logins.set(position, login);
    this.#mended.delete(bootHost(position));
    if (login[0] === '') this.#leftOut.add(position);
    else this.#leftOut.delete(position);
    this.#init.node.router.clearReachable();
  }

  /** Current children: those of the plan, and for one that is left out its own children. */
  #childPositions(): Position[] {
    const { tree, position } = this.#init;
    const expand = (at: Position): Position[] => (this.#leftOut.has(at) ? tree.children(at).flatMap(expand) : [at]);
    return tree.children(position).flatMap(expand);
  }

  /** By the plan, whichever host was left out since. */
  #pathTo(agent: Address): Address[] {
    const { tree, position } = this.#init;
    const target = bootPosition(addressIndex(agent));
    if (addressKind(agent) !== 'root' || !tree.isAncestor(position, target)) return [agent];
    const path: Address[] = [];
    for (let at: Position | undefined = target; at !== undefined && at !== position; at = tree.parent(at)) {
      path.unshift(rootAddress(bootHost(at)));
    }
    return path;
  }

  #nextHop(destination: Address): Address | undefined {
    const { tree, position } = this.#init;
    const kind = addressKind(destination);
    if (kind !== 'root' && kind !== 'session') return undefined;
    const target = bootPosition(addressIndex(destination));
    if (target === position) return destination;
    if (target >= tree.size || !tree.isAncestor(position, target)) return undefined;
    const mended = this.#mended.get(bootHost(target));
    if (mended !== undefined) return rootAddress(mended);
    const hop = this.#hop(position, target);
    return hop === undefined ? undefined : rootAddress(bootHost(hop));
  }

  /** Walks up from the target to the child of `top` that it is at or below. */
  #hop(top: Position, target: Position): Position | undefined {
    let hop = target;
    for (let above = this.#parentOf(hop); above !== top; above = this.#parentOf(hop)) {
      if (above === undefined) return undefined;
      hop = above;
    }
    return hop;
  }

  #parentOf(position: Position): Position | undefined {
    let parent = this.#init.tree.parent(position);
    while (parent !== undefined && this.#leftOut.has(parent)) parent = this.#init.tree.parent(parent);
    return parent;
  }

  #spec(position: Position, own = this.#logins.get(position) as HostLogin): ChildSpec {
    const { node, agentLauncher, tree, common } = this.#init;
    const host = bootHost(position);
    const subtree = tree.subtree(position).map((at) => (at === position ? own : (this.#logins.get(at) as HostLogin)));
    const details: BootDetails = { ...common, host, subtree, ...agentLauncher.connection() };
    const method = node.params.string('launcher.root.method') as AgentMethod;
    const start = { address: rootAddress(host), host: hostSpec(own, host), method };
    return agentLauncher.rootSpec(start, own[2], encodeBootDetails(details));
  }
}

/** Logins by position, from those of a subtree in pre-order. Throws STCI_MESSAGE_INVALID if their number is wrong. */
export function loginsOf(
  tree: TreeTopology,
  position: Position,
  subtree: readonly HostLogin[],
): Map<Position, HostLogin> {
  const positions = tree.subtree(position);
  if (positions.length !== subtree.length) {
    const text = `Expected the ${positions.length} hosts of the subtree, got ${subtree.length}`;
    throw new StciError('STCI_MESSAGE_INVALID', text);
  }
  return new Map(positions.map((at, i) => [at, subtree[i] as HostLogin]));
}

function isAtOrBelow(tree: TreeTopology, top: Position, position: Position): boolean {
  return top === position || tree.isAncestor(top, position);
}
