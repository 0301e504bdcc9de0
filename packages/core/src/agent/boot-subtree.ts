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
  type HostIndex,
  type JobId,
  type Position,
  type TreeTopology,
} from '@stci/interface';
import { encodeBootDetails, hostSpec, type BootDetails } from './boot-details.js';
import type { ChildSpec } from './child.js';
import type { ChildSupervisor, SupervisorEvents } from './child-supervisor.js';
import type { Launch } from './job-launch.js';
import type { AgentNode } from './node.js';
import type { AgentLauncher } from './agent-launcher.js';

/** Host name (empty: the host is left out) and user (empty: none). */
export type HostLogin = readonly [string, string];

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
  readonly #children: ChildSupervisor;

  constructor(init: BootSubtreeInit, events: SupervisorEvents) {
    this.#init = init;
    this.#logins = new Map();
    for (const [position, login] of init.logins) this.#updateHost(position, login);
    // Root agents on each level below, and a session agent below the last.
    this.#children = init.agentLauncher.supervise(events, init.tree.height + 1);
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

  /** Closes the link to the agent of `host`, a child. */
  expel(host: HostIndex, reason: string): void {
    this.#children.expel(rootAddress(host), reason);
  }

  /** Hosts at and below `host`, in pre-order. */
  hostsBelow(host: HostIndex): HostIndex[] {
    return this.#init.tree.subtree(bootPosition(host)).map(bootHost);
  }

  /** Forwards a job's launch, to each child its part. */
  passLaunch(launch: Launch, job: JobId): void {
    const { node, tree } = this.#init;
    for (const position of this.#childPositions()) {
      const hosts = launch.hosts.filter(([host]) => isAtOrBelow(tree, position, bootPosition(host)));
      const link = node.router.link(rootAddress(bootHost(position)));
      if (hosts.length === 0 || link === undefined) continue;
      node.messages.sendNeighbour(link, 'job.launch', { ...launch, hosts }, job);
    }
  }

  /** Forwards the news that a job is over; behind its launch, unlike a message to the subtree. */
  passClose(job: JobId): void {
    const { node } = this.#init;
    for (const position of this.#childPositions()) {
      const link = node.router.link(rootAddress(bootHost(position)));
      if (link !== undefined) node.messages.sendNeighbour(link, 'job.close', {}, job);
    }
  }

  stop(reason: string, done: () => void): void {
    this.#children.stop(reason, done);
  }

  /** Below a failed agent, hosts may have been left out or replaced: its replacement needs to know. */
  #updateSubtree(top: Position, subtree: readonly HostLogin[]): void {
    for (const [position, login] of loginsOf(this.#init.tree, top, subtree)) this.#updateHost(position, login);
  }

  #updateHost(position: Position, login: HostLogin): void {
    this.#logins.set(position, login);
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
    // Walk up from the target to the child of this agent that it is at or below.
    let hop = target;
    for (let above = this.#parentOf(hop); above !== position; above = this.#parentOf(hop)) {
      if (above === undefined) return undefined;
      hop = above;
    }
    return rootAddress(bootHost(hop));
  }

  #parentOf(position: Position): Position | undefined {
    let parent = this.#init.tree.parent(position);
    while (parent !== undefined && this.#leftOut.has(parent)) parent = this.#init.tree.parent(parent);
    return parent;
  }

  #spec(position: Position): ChildSpec {
    const { node, agentLauncher, tree, common } = this.#init;
    const host = bootHost(position);
    const subtree = tree.subtree(position).map((at) => this.#logins.get(at) as HostLogin);
    const details: BootDetails = { ...common, host, subtree, ...agentLauncher.connection() };
    const method = node.params.string('launcher.root.method') as AgentMethod;
    const start = { address: rootAddress(host), host: hostSpec(subtree[0] as HostLogin, host), method };
    return agentLauncher.rootSpec(start, encodeBootDetails(details));
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
