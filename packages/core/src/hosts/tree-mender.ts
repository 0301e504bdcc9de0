/**
 * Tree mender: carries out the mender's decisions at the controller. Agents are asked to start others, and to link to
 * those that have lost their parent; then the agents on the way to a host learn how it is reached.
 */

import {
  CONTROLLER, addressIndex, rootAddress, sessionAddress, type HostIndex, type StciError,
} from '@stci/interface';
import type { BootSubtree } from '../boot/boot-subtree.js';
import type { GroupStart } from '../boot/group-start.js';
import { Timers } from '../event/timers.js';
import type { HostLogin } from '../launcher/host-login.js';
import type { HostStarts, StartAction } from '../membership/host-starts.js';
import type { AgentRoutes, MemberChange } from '../membership/member.js';
import { Mender, type AdoptionAnswer, type Declared, type LossReport, type MendAction } from '../membership/mender.js';
import type { MembershipTable, ParentHost } from '../membership/table.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import { isOnHost } from './agents-of-host.js';

/** How long the end of a session waits for agents that cannot be reached; they end by themselves. */
const SETTLE_MS = 3000;

const GIVEN_UP = 'it was given up';

export interface TreeMenderInit {
  readonly node: AgentNode;
  readonly table: MembershipTable;
  readonly below: BootSubtree;
  readonly hosts: HostFacts;
}

/** What is known of the hosts besides. */
export interface HostFacts {
  loginOf(host: HostIndex): HostLogin;
  readonly together: Pick<GroupStart, 'hasEnded'>;
}

export interface TreeMenderEvents {
  /** `hosts`: those at and below the one that is linked again. `isNew`: they send again what may have been lost. */
  onMended(hosts: readonly HostIndex[], isNew: boolean): void;
  /** A host whose link was in doubt has the one that it had. */
  onKept(): void;
  onLost(lost: MendAction & { readonly type: 'lost' }): void;
  /** While the session runs: it has a parent, and is about to be started. */
  onStarting(host: HostIndex): void;
  /** Its agent did not come up, as `reporter` says. */
  onStartFailed(host: HostIndex, error: StciError, reporter: ParentHost): void;
  /** Its start is over; without an error, its agent runs. */
  onStarted(host: HostIndex, error: StciError | undefined): void;
}

export class TreeMender {
  readonly #init: TreeMenderInit;
  readonly #events: TreeMenderEvents;
  readonly #mender: Mender;
  readonly #timers: Timers<'tick' | 'settle'>;
  #onSettled: (() => void) | undefined;
  /** The session has ended: answers that still come change nothing. */
  #isOver = false;

  constructor(init: TreeMenderInit, events: TreeMenderEvents) {
    this.#init = init;
    this.#events = events;
    this.#timers = new Timers(init.node.platform.clock, init.node.holds);
    const { table, node: { params } } = init;
    const [leaseMs, handshakeMs] = [params.int('bootcom.lease'), params.int('launcher.handshake')];
    this.#mender = new Mender({ table, leaseMs, handshakeMs });
    init.node.messages.on('tree.adopted', (answer, { source }) => {
      this.#onAnswer(answer, addressIndex(source));
    });
  }

  /** The link of an agent is lost, as `error` tells if it is not mended. */
  lost(report: LossReport, error: StciError): void {
    this.#lost({ ...report, news: { error, wallMs: this.#init.node.platform.clock.wallMs() } });
  }

  #lost(report: LossReport): void {
    const hasEnded = this.#init.hosts.together.hasEnded(report.host, report.incarnation);
    this.#carryOut(this.#mender.lost(hasEnded ? { ...report, evidence: 'exited' } : report, this.#now));
  }

  /** The process of an agent has ended. While its link is up, that may still hold messages: its loss is reported. */
  exited(host: HostIndex): void {
    const { state, incarnation, parent } = this.#init.table.get(host);
    if (state !== 'suspect' && state !== 'orphaned') return;
    this.#lost({ host, incarnation, reporter: parent, evidence: 'closed', text: 'its process has ended' });
  }

  /** A detector found the agent dead. */
  declare(host: HostIndex, incarnation: number, declared: Declared): void {
    this.#carryOut(this.#mender.declare(host, incarnation, declared, this.#now));
  }

  /** The next incarnation of a host that takes no part is to be started. */
  start(host: HostIndex): void {
    this.#mender.start(host, this.#now);
    this.#setTimer();
  }

  /** The agent of a host that was being started runs. From now on it waits for another parent when it loses its own. */
  up(host: HostIndex, change: MemberChange): void {
    const actions = this.#mender.up(host, change, this.#now);
    this.#init.node.messages.send(rootAddress(host), 'session.ready', {});
    this.#events.onStarted(host, undefined);
    this.#carryOut(actions);
  }

  /** An input to the starts of agents. */
  onStarts(input: (starts: HostStarts) => StartAction[]): void {
    this.#carryOut(this.#mender.onStarts(input, this.#now));
  }

  #start({ host, by, isLate }: MendAction & { readonly type: 'start' }): void {
    const { node: { messages }, table, below, hosts } = this.#init;
    if (isLate) this.#introduce(host);
    const started = isLate ? [host] : below.hostsBelow(host).filter((at) => table.get(at).state !== 'left');
    const subtree = started.map((at) => hosts.loginOf(at));
    if (by === undefined) below.startHost(subtree, isLate);
    else messages.send(rootAddress(by), 'tree.start', { subtree, isLate });
  }

  /** What waits for former agents of the host is dropped, and the agents above learn the way to the new one. */
  #introduce(host: HostIndex): void {
    const { node: { messages }, table } = this.#init;
    messages.transport.drop(rootAddress(host));
    messages.transport.drop(sessionAddress(host));
    this.#events.onStarting(host);
    table.note(host, { routes: { hops: new Map(), isLate: true, orders: 0 } });
    this.#updateRoutes(host, [host]);
  }

  #onUnstarted({ host, error, isFailure, reporter }: MendAction & { readonly type: 'unstarted' }): void {
    if (isFailure) this.#events.onStartFailed(host, error, reporter);
    this.#events.onStarted(host, error);
  }

  /** The session stops: only the controller links agents again from now on. */
  finish(): void {
    this.#mender.finish();
  }

  /** Calls `done` when nothing is being mended any more, or takes too long; then it ends. */
  settle(done: () => void): void {
    const finish = (): void => {
      this.#onSettled = undefined;
      this.#isOver = true;
      this.#timers.close();
      done();
    };
    this.#timers.set('settle', SETTLE_MS, finish);
    this.#onSettled = finish;
    if (this.#mender.dueMs === undefined) finish();
  }

  get #now(): number {
    return this.#init.node.platform.clock.nowMs();
  }

  /** Attempts have increasing numbers, each made by one agent, which alone may answer it. */
  #onAnswer({ attempt, result, parent }: MessageBody<'tree.adopted'>, from: ParentHost): void {
    const answer = result === 'busy'
      ? { result, parent: parent === undefined || parent === CONTROLLER ? undefined : addressIndex(parent) }
      : { result };
    this.#carryOut(this.#mender.answered(attempt, answer, this.#now, from));
  }

  #carryOut(actions: readonly MendAction[]): void {
    if (this.#isOver) return;
    for (const action of actions) {
      if (action.type === 'attempt') this.#attempt(action);
      else if (action.type === 'adopted') this.#onAdopted(action);
      else if (action.type === 'mended') this.#onMended(action.host, action.isNew);
      else if (action.type === 'kept') this.#onKept(action.host);
      else if (action.type === 'expel') this.expel(action.host, action.by, GIVEN_UP);
      else if (action.type === 'start') this.#start(action);
      else if (action.type === 'unstarted') this.#onUnstarted(action);
      else {
        // Its former parent, or one that linked to it too late, ends what is left of it.
        this.expel(action.host, this.#init.table.get(action.host).parent, GIVEN_UP);
        this.#events.onLost(action);
      }
    }
    this.#setTimer();
  }

  #setTimer(): void {
    this.#timers.clear('tick');
    const { dueMs } = this.#mender;
    if (dueMs === undefined) return this.#onSettled?.();
    const delayMs = Math.max(0, dueMs - this.#now);
    this.#timers.set('tick', delayMs, () => this.#carryOut(this.#mender.tick(this.#now)));
  }

  #attempt({ id, by, host, subtree, waitMs }: MendAction & { readonly type: 'attempt' }): void {
    const { node, below, hosts, table } = this.#init;
    const { socket } = table.get(host);
    const request = { login: hosts.loginOf(host), socket: socket ?? '', hosts: [...subtree], waitMs };
    // At once: the answer is to be known before anything that comes over the new link.
    const answer = (given: AdoptionAnswer): void => this.#carryOut(this.#mender.answered(id, given, this.#now));
    if (socket === undefined) answer({ result: 'dead' });
    else if (by !== undefined) node.messages.send(rootAddress(by), 'tree.adopt', { attempt: id, ...request });
    else below.adopt(request, answer);
  }

  #onMended(host: HostIndex, isNew: boolean): void {
    const hosts = this.#init.table.hostsBelow(host);
    this.#updateRoutes(host, hosts);
    this.#onConnected(hosts);
    this.#events.onMended(hosts, isNew);
  }

  #onKept(host: HostIndex): void {
    this.#onConnected(this.#init.table.hostsBelow(host));
    this.#events.onKept();
  }

  /** There is a way to them again. Some may have been linked to others before, while all of them were cut off. */
  #onConnected(hosts: readonly HostIndex[]): void {
    for (const host of hosts) this.#bypass(host, [host]);
    this.#correctAll(hosts);
  }

  /** Some of those that were below `host` when this was asked may have been linked to others, or are so later. */
  #onAdopted({ by, host, subtree }: MendAction & { readonly type: 'adopted' }): void {
    const { table } = this.#init;
    const below = table.hostsBelow(host);
    for (const each of subtree) {
      if (by !== undefined) this.#routesOf(by).hops.set(each, host);
      if (!below.includes(each) || (each === host && table.get(host).parent !== by)) this.#correct(by, each);
    }
  }

  /**
   * The agent of `at` takes this host to be below the one that it has linked to, but it is linked to another, or just
   * being started by it.
   */
  #correct(at: ParentHost, host: HostIndex): void {
    const { table, below } = this.#init;
    if (!table.isConnected(host) && table.get(host).state !== 'starting') {
      table.note(host, { misled: new Set(table.get(host).misled).add(at) });
      return;
    }
    let child = host;
    for (let above = table.get(host).parent; above !== at && above !== undefined; above = table.get(above).parent) {
      child = above;
    }
    if (at === undefined) return below.route(child, [host]);
    const hop = table.get(child).parent === at ? child : at;
    this.#routesOf(at).hops.set(host, hop);
    this.#route(at, hop, [host]);
  }

  #correctAll(hosts: readonly HostIndex[]): void {
    const { table } = this.#init;
    for (const host of hosts) {
      const { misled } = table.get(host);
      if (misled === undefined) continue;
      table.note(host, { misled: undefined });
      for (const at of misled) if (at === undefined || !table.isGone(at)) this.#correct(at, host);
    }
  }

  /** Agents above in the planned tree that have them no longer below: they are reached by the parent. */
  #bypass(mended: HostIndex, hosts: readonly HostIndex[]): void {
    const { table } = this.#init;
    const way = new Set<ParentHost>();
    for (let at = table.get(mended).parent; at !== undefined; at = table.get(at).parent) way.add(at);
    for (const at of table.ancestors(mended)) {
      if (at === undefined || way.has(at)) continue;
      const known = this.#routesOf(at).hops;
      if (hosts.every((host) => known.get(host) === at)) continue;
      for (const host of hosts) known.set(host, at);
      this.#route(at, at, hosts);
    }
  }

  /** The new parent knows those that it linked to; it and the agents above may have known another way to the others. */
  #updateRoutes(mended: HostIndex, hosts: readonly HostIndex[]): void {
    const { table, below } = this.#init;
    this.#bypass(mended, hosts);
    let child = mended;
    for (let at = table.get(mended).parent; ; at = table.get(at).parent) {
      if (at === undefined) return below.route(child, hosts);
      const { hops, isLate, orders } = this.#routesOf(at);
      const hop = (host: HostIndex): HostIndex | undefined =>
        hops.get(host) ?? (isLate ? undefined : below.plannedHop(at as HostIndex, host));
      const isNews = orders > 0 || hosts.some((host) => hop(host) !== child);
      for (const host of hosts) hops.set(host, child);
      if (isNews) this.#route(at, child, hosts);
      child = at;
    }
  }

  /** What was sent before the agent of `at` knew may have gone where nothing led on: it is sent again. */
  #route(at: HostIndex, child: HostIndex, hosts: readonly HostIndex[]): void {
    const { messages } = this.#init.node;
    const moved = new Set(hosts);
    const routes = this.#routesOf(at);
    routes.orders += 1;
    messages.request(rootAddress(at), 'tree.route', { child, hosts: [...hosts] }, (error) => {
      routes.orders -= 1;
      if (error === undefined && !this.#isOver) messages.transport.resend((agent) => isOnHost(agent, moved));
    });
  }

  #routesOf(at: HostIndex): AgentRoutes {
    const { table } = this.#init;
    const routes = table.get(at).routes ?? { hops: new Map(), isLate: false, orders: 0 };
    table.note(at, { routes });
    return routes;
  }

  /** The agent of `by` closes its link to that of `host`, or ends its start; one that is cut off, when it is linked. */
  expel(host: HostIndex, by: ParentHost, reason: string): void {
    const { below, node, table } = this.#init;
    if (by === undefined) return below.expel(host, reason);
    if (table.isGone(by)) return;
    node.messages.request(rootAddress(by), 'agent.expel', { agent: rootAddress(host), reason }, () => undefined);
  }
}
