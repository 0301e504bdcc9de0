/**
 * Boot subtree: the part of the boot tree below an agent. It starts the agents in it, routes to each of them, and
 * splits messages among them. Used by the controller, which has the whole tree, and by root agents.
 *
 * The places of hosts in the tree never change, and one more host has the next place. Leaving a host out changes links
 * only: the agents below that host are started by the one above it, and routes farther up stay the same.
 */

import {
  addressIndex,
  addressKind,
  bootHost,
  bootPosition,
  rootAddress,
  type Address,
  type AgentProcess,
  type AgentProcessEvents,
  type BootTree,
  type HostIndex,
  type JobId,
  type Position,
  type StciError,
} from '@stci/interface';
import { afterRunning } from '../event/running-timer.js';
import { HOSTS_MAX, encodeBootDetails, type BootDetails } from '../launcher/boot-details.js';
import { rootMethod } from '../launcher/framework.js';
import { hostSpec, type HostLogin } from '../launcher/host-login.js';
import { partFor, type BootPlaces } from '../launcher/parent-tree.js';
import type { AdoptionAnswer } from '../membership/mender.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { AgentLauncher } from './agent-launcher.js';
import type { ChildSupervisor, SupervisorEvents } from './child-supervisor.js';
import { childError, newChild, type ChildSpec } from './child.js';

export type AdoptRequest = Omit<MessageBody<'tree.adopt'>, 'attempt'>;

export interface BootSubtreeInit {
  readonly node: AgentNode;
  readonly agentLauncher: AgentLauncher;
  /** The boot tree over so many hosts. */
  treeOf(hosts: number): BootTree;
  /** This agent's position: 0 for the controller. */
  readonly position: Position;
  /** Of the hosts that are to be started below. */
  readonly logins: readonly HostLogin[];
  /** Details that are the same for all agents. */
  readonly common: Pick<BootDetails, 'hosts' | 'tree' | 'outlivesParent' | 'params'>;
}

export class BootSubtree {
  readonly #init: BootSubtreeInit;
  readonly #events: SupervisorEvents;
  /** The tree over the hosts with which the session began. */
  readonly #tree: BootTree;
  /** The places of all hosts that there may be. */
  readonly places: BootPlaces;
  /** At the controller: how many hosts there are. No others may be named as the source of a frame. */
  hostCount = (): number => HOSTS_MAX;
  /** Of hosts below that are not left out, by position. */
  readonly #logins = new Map<Position, HostLogin>();
  /** Next hops to hosts that the mended tree reaches otherwise than the planned one. */
  readonly #mended = new Map<HostIndex, HostIndex>();
  /** Agents planned below were there before this one: others above have linked to them, and say so if it is to know. */
  readonly #isLate: boolean;
  /** What waits for the answers of agents that are just being linked to, by host and incarnation. */
  readonly #adoptions = new Map<string, ((answer: AdoptionAnswer) => void)[]>();
  readonly #children: ChildSupervisor;

  constructor(init: BootSubtreeInit, events: SupervisorEvents) {
    this.#init = init;
    this.#events = events;
    this.#tree = init.treeOf(init.common.hosts);
    this.places = init.treeOf(HOSTS_MAX);
    for (const login of init.logins) this.#logins.set(bootPosition(login[0]), login);
    this.#isLate = init.position !== 0 && init.logins.length === 1 && this.#tree.subtree(init.position).length > 1;
    if (this.#isLate) init.node.messages.transport.keepBroadcasts();
    // Root agents on each level below, and a session agent below the last.
    this.#children = init.agentLauncher.supervise(events, this.#tree.height + 1, false);
    init.node.router.rule = (destination) => this.#nextHop(destination);
    init.node.pathBelow = (agent) => this.#pathTo(agent);
    init.node.levels = () => this.#tree.height + 1;
    init.node.isPlannedBelow = (agent, above) => this.#isPlannedBelow(agent, above);
  }

  /** Starts all children. `logins`: of hosts whose agents were started together with others. */
  start(logins: readonly HostLogin[] = []): void {
    for (const login of logins) this.#logins.set(bootPosition(login[0]), login);
    this.#children.launch(this.#childPositions().map((position) => this.#spec(position)));
  }

  /**
   * Starts the agent of the first of these hosts, with those of the others, which are below it. Hosts between are left
   * out; while the session runs (`isLate`), hosts below keep the links that they have.
   */
  startHost(subtree: readonly HostLogin[], isLate: boolean): void {
    const [login] = subtree;
    if (login === undefined || !this.#isBelow(bootPosition(login[0]))) return;
    const [host] = login;
    const position = bootPosition(host);
    const spec = this.#specOf(login, subtree);
    const error = this.#init.agentLauncher.problemOf(spec.host);
    if (error !== undefined) return this.#refuse(spec, error);
    if (isLate) this.#keepBelow(position);
    else this.#forget(position);
    for (const each of subtree) this.#logins.set(bootPosition(each[0]), each);
    this.route(host, [host]);
    this.#children.relaunch(spec);
  }

  /**
   * Links to the agent of a host below, which runs, and to those that are below it. Asked again meanwhile, as by a
   * controller that was starved, it waits for the first answer: of two links the agent would close one, which would be
   * taken for its loss.
   */
  adopt({ login, socket, hosts, waitMs }: AdoptRequest, done: (answer: AdoptionAnswer) => void): void {
    const { node, agentLauncher } = this.#init;
    const [host, , , incarnation] = login;
    const onAnswer = (answer: AdoptionAnswer): void => {
      if (answer.result === 'adopted') {
        this.#logins.set(bootPosition(host), login);
        this.route(host, hosts);
      }
      done(answer);
    };
    const key = `${host}#${incarnation}`;
    const waiting = this.#adoptions.get(key);
    if (waiting !== undefined) return void waiting.push(onAnswer);
    const all = [onAnswer];
    this.#adoptions.set(key, all);
    const forget = (): void => {
      if (this.#adoptions.get(key) === all) this.#adoptions.delete(key);
    };
    const spec = this.#specOf(login, [login]);
    // The link has a deadline; what ends without an answer keeps nobody from another attempt.
    const timer = afterRunning(node.platform.clock, 2 * waitMs, forget);
    const connect = (events: AgentProcessEvents): AgentProcess =>
      agentLauncher.reach(spec.address, { host: spec.host, path: socket, waitMs }, events);
    this.#children.adopt(spec, waitMs, connect, (answer) => {
      timer.cancel();
      forget();
      for (const each of all) each(answer);
    });
  }

  /** The agents of `hosts` are reached by that of `child`; if it is this host, not from here, but by the parent. */
  route(child: HostIndex, hosts: readonly HostIndex[]): void {
    for (const host of hosts) this.#mended.set(host, child);
    this.#init.node.router.clearReachable();
  }

  /** Closes the link to the agent of `host`, a child; one that is being started is ended. */
  expel(host: HostIndex, reason: string): void {
    this.#children.expel(rootAddress(host), reason);
  }

  /** The child of `above` through which the planned tree reaches `host`. */
  plannedHop(above: HostIndex, host: HostIndex): HostIndex | undefined {
    const hop = this.#hop(bootPosition(above), bootPosition(host));
    return hop === undefined ? undefined : bootHost(hop);
  }

  /** Hosts at and below `host`, of those with which the session began, in pre-order. */
  hostsBelow(host: HostIndex): HostIndex[] {
    return this.#tree.subtree(bootPosition(host)).map(bootHost);
  }

  /**
   * Forwards a job's launch, to each child its part: one walk over the hosts, which may be as many as the children.
   * Returns why one of them cannot get it.
   */
  passLaunch(launch: Launch, job: JobId): StciError | undefined {
    const { messages, router } = this.#init.node;
    let unsent: StciError | undefined;
    const parts = new Map<Address | undefined, Launch['hosts'][number][]>();
    for (const host of launch.hosts) {
      const hop = this.#nextHop(rootAddress(host[0]));
      const part = parts.get(hop);
      if (part === undefined) parts.set(hop, [host]);
      else part.push(host);
    }
    for (const link of router.childLinks(0)) {
      const hosts = parts.get(link.peer);
      if (hosts === undefined) continue;
      unsent = messages.sendNeighbour(link, 'job.launch', { ...launch, hosts }, job) ?? unsent;
    }
    return unsent;
  }

  /** Forwards the news that a job is over; behind its launch, unlike a message to the subtree. */
  passClose(job: JobId): void {
    const { messages, router } = this.#init.node;
    for (const link of router.childLinks(0)) messages.sendNeighbour(link, 'job.close', {}, job);
  }

  /** This agent leaves the session, those below it do not. */
  abandon(): void {
    this.#children.abandon('its parent leaves the session');
  }

  stop(reason: string, done: () => void): void {
    this.#children.stop(reason, done);
  }

  stopRest(done: () => void): void {
    this.#children.stopRest(done);
  }

  /** A child that cannot be started. */
  #refuse(spec: ChildSpec, { code, message }: StciError): void {
    const { address: agent, incarnation } = spec;
    const child = newChild(spec, 'gone');
    const error = childError('STCI_LAUNCH_FAILED', child, `did not come up: ${message}`, { cause: code });
    this.#events.onFailed({ kind: 'agent-launch', agent, job: 0, incarnation, evidence: 'exited', error });
  }

  /** Those below are reached as before. */
  #keepBelow(top: Position): void {
    for (const at of this.#logins.keys()) {
      if (at !== top && this.#isAtOrBelow(top, at)) this.#mended.set(bootHost(at), this.#hostBelow(at));
    }
  }

  /** Hosts between are left out; below, hosts may have been left out or replaced. */
  #forget(top: Position): void {
    for (let at = this.#parentOf(top); at !== this.#init.position; at = this.#parentOf(top)) {
      this.#logins.delete(at as Position);
    }
    for (const at of this.#tree.subtree(top)) {
      this.#logins.delete(at);
      this.#mended.delete(bootHost(at));
    }
  }

  /** Current children: those of the plan, and for one that is left out its own children. */
  #childPositions(): Position[] {
    const { position } = this.#init;
    return [...this.#logins.keys()].filter((at) => at !== position && this.#parentOf(at) === position);
  }

  /** Path by the plan, whichever host was left out since. */
  #pathTo(agent: Address): Address[] {
    const { position } = this.#init;
    const target = bootPosition(addressIndex(agent));
    if (addressKind(agent) !== 'root' || !this.#isBelow(target)) return [agent];
    const path: Address[] = [];
    for (let at: Position | undefined = target; at !== undefined && at !== position; at = this.places.parent(at)) {
      path.unshift(rootAddress(bootHost(at)));
    }
    return path;
  }

  #isPlannedBelow(agent: Address, above: Address): boolean {
    const kind = addressKind(agent);
    const [at, top] = [bootPosition(addressIndex(agent)), bootPosition(addressIndex(above))];
    return (kind === 'root' || kind === 'session') && addressKind(above) === 'root'
      && bootHost(at) < this.hostCount() && this.#isBelow(top) && this.#isAtOrBelow(top, at);
  }

  #nextHop(destination: Address): Address | undefined {
    const kind = addressKind(destination);
    if (kind !== 'root' && kind !== 'session') return undefined;
    const target = bootPosition(addressIndex(destination));
    if (target === this.#init.position) return destination;
    if (!this.#isBelow(target)) return undefined;
    const isKnown = !this.#isLate || this.#logins.has(target) || this.#mended.has(bootHost(target));
    const hop = this.#hostBelow(target);
    return isKnown && bootPosition(hop) !== this.#init.position ? rootAddress(hop) : undefined;
  }

  /** The host of the child over which a position below is reached. */
  #hostBelow(target: Position): HostIndex {
    return this.#mended.get(bootHost(target)) ?? bootHost(this.#hop(this.#init.position, target) as Position);
  }

  #isBelow(target: Position): boolean {
    const { places } = this;
    return bootHost(target) < this.hostCount() && places.isAncestor(this.#init.position, target);
  }

  #isAtOrBelow(top: Position, position: Position): boolean {
    return top === position || this.places.isAncestor(top, position);
  }

  /** Walks up from the target to the child of `top` that it is at or below. */
  #hop(top: Position, target: Position): Position | undefined {
    let hop = target;
    for (let above = this.#parentOf(hop, top); above !== top; above = this.#parentOf(hop, top)) {
      if (above === undefined) return undefined;
      hop = above;
    }
    return hop;
  }

  /** The nearest above that is not left out, or is `top`. */
  #parentOf(position: Position, top = this.#init.position): Position | undefined {
    let parent = this.places.parent(position);
    while (parent !== undefined && parent !== top && !this.#logins.has(parent)) parent = this.places.parent(parent);
    return parent;
  }

  #spec(position: Position): ChildSpec {
    const all = this.#tree.subtree(position).map((at) => this.#logins.get(at));
    const subtree = all.filter((login) => login !== undefined);
    return this.#specOf(this.#logins.get(position) as HostLogin, subtree);
  }

  #specOf(login: HostLogin, subtree: readonly HostLogin[]): ChildSpec {
    const { node, agentLauncher, common } = this.#init;
    const [host, , , incarnation, started] = login;
    const hosts = Math.max(common.hosts, host + 1);
    const tree = partFor(common.tree, host, this.#tree);
    const details: BootDetails = { ...common, tree, hosts, host, subtree, ...agentLauncher.connection() };
    const start = { address: rootAddress(host), host: hostSpec(login), method: rootMethod(node.params) };
    return agentLauncher.rootSpec(start, incarnation, encodeBootDetails(details), started);
  }
}
