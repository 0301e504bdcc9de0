/**
 * Boot subtree: an agent's part of the boot tree, below itself. It starts the agents beneath, finds the way to each,
 * and splits among them what goes down. Shared by the controller, which has the whole tree, and root agents.
 *
 * The tree is the plan; what is left out of it changes the links and not the plan: agents below a host that is left
 * out are started by the one above it, and everybody farther up goes on sending the same way.
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
  type Position,
  type TreeTopology,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { encodeBootDetails, hostSpec, type BootDetails } from './boot-details.js';
import type { ChildSpec, ChildSupervisor, SupervisorEvents } from './child-supervisor.js';
import type { AgentNode } from './node.js';
import type { AgentLauncher } from './agent-launcher.js';

type Launch = MessageBody<'job.launch'>;

/** Host name (empty: the host is left out) and login (empty: none). */
export type HostLogin = readonly [string, string];

export interface BootSubtreeInit {
  readonly node: AgentNode;
  readonly agentLauncher: AgentLauncher;
  readonly tree: TreeTopology;
  /** Where this agent is: 0 for the controller. */
  readonly position: Position;
  /** Of all positions below, and of this one if it is a host's. */
  readonly logins: ReadonlyMap<Position, HostLogin>;
  /** What all agents are told alike. */
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
    for (const [position, login] of init.logins) this.#learn(position, login);
    // Root agents on each level below, and a session agent under the last.
    this.#children = init.agentLauncher.supervise(events, init.tree.height + 1);
    init.node.router.rule = (destination) => this.#nextHop(destination);
  }

  get tree(): TreeTopology {
    return this.#init.tree;
  }

  /** Starts all children. */
  start(): void {
    this.#children.launch(this.#childPositions().map((position) => this.#spec(position)));
  }

  /** Starts the agent of `host`, a child that failed, once more; `subtree`: who is at and below it now. */
  restart(host: HostIndex, subtree: readonly HostLogin[]): void {
    const position = bootPosition(host);
    if (!this.#childPositions().includes(position)) return;
    this.#learnAll(position, subtree);
    this.#children.relaunch(this.#spec(position));
  }

  /** Leaves `host`, a child that failed, out: the agents below it become children of this one. */
  takeOver(host: HostIndex, subtree: readonly HostLogin[]): void {
    const position = bootPosition(host);
    if (this.#leftOut.has(position) || !this.#childPositions().includes(position)) return;
    this.#learnAll(position, subtree);
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

  /** Passes a job's launch on, each child its part. */
  passLaunch(launch: Launch): void {
    const { node, tree } = this.#init;
    for (const position of this.#childPositions()) {
      const hosts = launch.hosts.filter(([host]) => isAtOrBelow(tree, position, bootPosition(host)));
      const link = node.router.link(rootAddress(bootHost(position)));
      if (hosts.length > 0 && link !== undefined) node.messages.sendNeighbour(link, 'job.launch', { ...launch, hosts });
    }
  }

  stop(reason: string, done: () => void): void {
    this.#children.stop(reason, done);
  }

  /** What was left out or replaced below an agent that failed is so for whoever takes its place. */
  #learnAll(top: Position, subtree: readonly HostLogin[]): void {
    for (const [position, login] of loginsOf(this.#init.tree, top, subtree)) this.#learn(position, login);
  }

  #learn(position: Position, login: HostLogin): void {
    this.#logins.set(position, login);
    if (login[0] === '') this.#leftOut.add(position);
    else this.#leftOut.delete(position);
    this.#init.node.router.forgetWays();
  }

  /** Children as they are: those of the plan, and in the place of one that is left out its own children. */
  #childPositions(): Position[] {
    const { tree, position } = this.#init;
    const expand = (at: Position): Position[] => (this.#leftOut.has(at) ? tree.children(at).flatMap(expand) : [at]);
    return tree.children(position).flatMap(expand);
  }

  #nextHop(destination: Address): Address | undefined {
    const { tree, position } = this.#init;
    const kind = addressKind(destination);
    if (kind !== 'root' && kind !== 'session') return undefined;
    const target = bootPosition(addressIndex(destination));
    if (target === position) return destination;
    if (target >= tree.size || !tree.isAncestor(position, target)) return undefined;
    // Up from the target to the child of this agent that it is below.
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
    const details: BootDetails = { ...common, host, subtree, connect: agentLauncher.addresses() };
    const method = node.params.string('launcher.root.method') as AgentMethod;
    const start = { address: rootAddress(host), host: hostSpec(subtree[0] as HostLogin, host), method };
    return agentLauncher.rootSpec(start, encodeBootDetails(details));
  }
}

/** The logins of a subtree given in pre-order, by position. */
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
