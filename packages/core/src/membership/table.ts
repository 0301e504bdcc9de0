/**
 * Membership of a session: one row for each host of its allocation, and the only record of which hosts are there. Pure.
 * The controller keeps it; whoever decides about a host reads it there.
 *
 * A host is `planned` → `starting` → `up`. A host whose link was reported lost is `suspect`, one whose parent is lost
 * `orphaned`, until it is linked again or given up. `left`: out of the session by decision. `failed`: its agent is
 * known to have ended. `fenced`: not reached in time, and refused from then on, whether it lives or not. Each start of
 * a host's agent has an incarnation of its own; `plan` begins the next.
 */

import { assert, bootHost, bootPosition, type HostIndex } from '@stci/interface';
import { nextState, type LifeTable } from '../event/lifecycle.js';
import type { BootPlaces } from '../launcher/parent-tree.js';

export type MemberState = 'planned' | 'starting' | 'up' | 'suspect' | 'orphaned' | 'left' | 'failed' | 'fenced';

export type MemberEvent =
  /** The next incarnation is to be started. */
  | 'plan'
  /** Its parent starts it. */
  | 'start'
  /** Its agent runs, and its link is up. */
  | 'up'
  /** The agent at the other end of its link reported the link lost. */
  | 'suspect'
  /** Its parent is lost. */
  | 'orphan'
  /** It is linked, to the parent that the event names or to the one it had. */
  | 'link'
  | 'leave'
  | 'fail'
  | 'fence';

export const MEMBER_LIFE: LifeTable<MemberState, MemberEvent> = {
  of: 'a host',
  first: 'planned',
  rows: {
    planned: { start: 'starting', leave: 'left', fail: 'failed' },
    starting: { plan: 'planned', up: 'up', leave: 'left', fail: 'failed' },
    up: { plan: 'planned', suspect: 'suspect', orphan: 'orphaned', link: 'up', leave: 'left', fail: 'failed' },
    suspect: { plan: 'planned', link: 'up', leave: 'left', fail: 'failed', fence: 'fenced' },
    orphaned: { plan: 'planned', suspect: 'suspect', link: 'up', leave: 'left', fail: 'failed', fence: 'fenced' },
    left: { plan: 'planned' },
    failed: { plan: 'planned', leave: 'left' },
    fenced: { plan: 'planned', leave: 'left' },
  },
};

/** A host whose agent this host's agent is linked to; undefined: the controller. */
export type ParentHost = HostIndex | undefined;

export interface Member {
  readonly host: HostIndex;
  /** 1, 2, …: of the agent that is to be started, runs, or ran last. */
  readonly incarnation: number;
  readonly state: MemberState;
  readonly parent: ParentHost;
  /** Why it is in this state, where there is something to say; else empty. */
  readonly evidence: string;
  /** It gets no more jobs, and leaves the session when those that it has are over. */
  readonly isDraining: boolean;
  /** Epoch of its last change. */
  readonly epoch: number;
}

/** What an event changes besides the state. */
export interface MemberChange {
  readonly parent?: ParentHost;
  readonly evidence?: string;
}

export class MembershipTable {
  readonly #tree: BootPlaces;
  readonly #members: Member[] = [];
  readonly #children = new Map<ParentHost, Set<HostIndex>>();
  readonly #counts = new Map<MemberState, number>();
  #epoch = 0;
  /** Called after each event of a host. */
  onEvent: (host: HostIndex) => void = () => undefined;

  /** `tree`: the boot tree, with the controller at position 0 and a position for each host that there may be. */
  constructor(tree: BootPlaces, hosts: number) {
    this.#tree = tree;
    for (let count = 0; count < hosts; count++) this.add(1);
  }

  /** One more host; `plan` begins its first incarnation where it is 0. */
  add(incarnation = 0): HostIndex {
    const host = this.#members.length;
    const parent = this.plannedParent(host);
    const state = incarnation === 0 ? 'left' : 'planned';
    const { epoch } = this;
    this.#members.push({ host, incarnation, state, parent, evidence: '', isDraining: false, epoch });
    this.#childSet(parent).add(host);
    this.#counts.set(state, this.count(state) + 1);
    return host;
  }

  /** Number of changes so far. */
  get epoch(): number {
    return this.#epoch;
  }

  get size(): number {
    return this.#members.length;
  }

  get(host: HostIndex): Member {
    const member = this.#members[host];
    assert(member !== undefined, `host ${host} is one of ${this.size}`);
    return member;
  }

  /** An event that the host's state does not permit is a programming error. `change.parent`: only if it is named. */
  apply(host: HostIndex, event: MemberEvent, change: MemberChange = {}): Member {
    const before = this.get(host);
    const state = nextState(MEMBER_LIFE, before.state, event);
    const parent = 'parent' in change ? change.parent : before.parent;
    assert(parent === undefined || this.isAbove(parent, host), 'a parent is above its child in the planned tree');
    const isNext = event === 'plan';
    const incarnation = before.incarnation + (isNext ? 1 : 0);
    const isDraining = before.isDraining && !isNext && event !== 'leave';
    this.#epoch += 1;
    const evidence = change.evidence ?? '';
    const member = { host, incarnation, state, parent, evidence, isDraining, epoch: this.#epoch };
    this.#members[host] = member;
    this.#childSet(before.parent).delete(host);
    this.#childSet(parent).add(host);
    this.#counts.set(before.state, this.count(before.state) - 1);
    this.#counts.set(state, this.count(state) + 1);
    this.onEvent(host);
    return member;
  }

  drain(host: HostIndex, isDraining: boolean): void {
    this.#epoch += 1;
    this.#members[host] = { ...this.get(host), isDraining, epoch: this.#epoch };
  }

  count(...states: readonly MemberState[]): number {
    return states.reduce((sum, state) => sum + (this.#counts.get(state) ?? 0), 0);
  }

  hosts(...states: readonly MemberState[]): HostIndex[] {
    return this.#members.filter(({ state }) => states.includes(state)).map(({ host }) => host);
  }

  /** Its incarnation takes no part any more, and nothing is expected of it. */
  isGone(host: HostIndex): boolean {
    const { state } = this.get(host);
    return state === 'left' || state === 'failed' || state === 'fenced';
  }

  /** Jobs may be mapped on it, as far as is known. */
  isUsable(host: HostIndex): boolean {
    const { state, isDraining } = this.get(host);
    return !isDraining && (state === 'up' || state === 'suspect' || state === 'orphaned');
  }

  /** It is usable, and it is not known whether it lives: its link is lost, or one above it is. */
  isDoubted(host: HostIndex): boolean {
    return this.isUsable(host) && !this.isConnected(host);
  }

  /** It and all above it, up to the controller, are up. */
  isConnected(host: HostIndex): boolean {
    let at: ParentHost = host;
    while (at !== undefined) {
      const member = this.get(at);
      if (member.state !== 'up') return false;
      at = member.parent;
    }
    return true;
  }

  /** Hosts whose parent is `host`, ascending; those that are gone keep their last parent and are not among them. */
  children(host: ParentHost): HostIndex[] {
    return [...this.#childSet(host)].filter((child) => !this.isGone(child)).sort((a, b) => a - b);
  }

  /** Hosts at and below `host` by current parents, in pre-order, without those that are gone. */
  hostsBelow(host: HostIndex): HostIndex[] {
    return [host, ...this.children(host).flatMap((child) => this.hostsBelow(child))];
  }

  /** The agent that starts `host`: the nearest above it in the planned tree that has not left. */
  starterOf(host: HostIndex): ParentHost {
    return this.#plannedAncestors(host).find((above) => above === undefined || this.get(above).state !== 'left');
  }

  /** Agents above `host` in the planned tree that are connected and stay, nearest first; the controller is the last. */
  connectedAncestors(host: HostIndex): ParentHost[] {
    return this.#plannedAncestors(host).filter((above) =>
      above === undefined || (this.isConnected(above) && !this.get(above).isDraining));
  }

  /** Agents above `host` in the planned tree that are not gone, nearest first; the controller is the last. */
  ancestors(host: HostIndex): ParentHost[] {
    return this.#plannedAncestors(host).filter((above) => above === undefined || !this.isGone(above));
  }

  #plannedAncestors(host: HostIndex): ParentHost[] {
    const above: ParentHost[] = [];
    let at: ParentHost = host;
    do {
      at = this.plannedParent(at);
      above.push(at);
    } while (at !== undefined);
    return above;
  }

  /** The host above it in the planned tree. */
  plannedParent(host: HostIndex): ParentHost {
    const position = this.#tree.parent(bootPosition(host)) as number;
    return position === 0 ? undefined : bootHost(position);
  }

  /** In the planned tree. */
  isAbove(above: HostIndex, host: HostIndex): boolean {
    return above < this.size && this.#tree.isAncestor(bootPosition(above), bootPosition(host));
  }

  #childSet(parent: ParentHost): Set<HostIndex> {
    let children = this.#children.get(parent);
    if (children === undefined) this.#children.set(parent, (children = new Set()));
    return children;
  }
}
