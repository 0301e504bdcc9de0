/**
 * Membership of a session: one row for each host of its allocation (member.ts), and the only record of which hosts are
 * there. Pure. The controller keeps it; whoever decides about a host reads it there.
 */

import { assert, bootHost, bootPosition, type HostIndex, type HostSpec } from '@stci/interface';
import { nextState } from '../event/lifecycle.js';
import type { BootPlaces } from '../launcher/parent-tree.js';
import {
  BLANK, CLEARED, MEMBER_LIFE, OF_SPEC, type Member, type MemberChange, type MemberColumns, type MemberEvent,
  type MemberState, type ParentHost,
} from './member.js';

export type { Member, MemberState, ParentHost } from './member.js';

export class MembershipTable {
  readonly #tree: BootPlaces;
  readonly #members: Member[] = [];
  readonly #children = new Map<ParentHost, Set<HostIndex>>();
  readonly #counts = new Map<MemberState, number>();
  /** Called after each event of a host. */
  onEvent: (host: HostIndex) => void = () => undefined;

  /** `tree`: the boot tree, with the controller at position 0 and a position for each host that there may be. */
  constructor(tree: BootPlaces, hosts: readonly HostSpec[]) {
    this.#tree = tree;
    for (const spec of hosts) this.add(spec, 1);
  }

  /** One more host; `plan` begins its first incarnation where it is 0. */
  add(spec: HostSpec, incarnation = 0): HostIndex {
    const host = this.#members.length;
    const parent = this.plannedParent(host);
    const state = incarnation === 0 ? 'left' : 'planned';
    this.#members.push({ ...BLANK, host, spec, incarnation, state, parent });
    this.#childSet(parent).add(host);
    this.#counts.set(state, this.count(state) + 1);
    return host;
  }

  get size(): number {
    return this.#members.length;
  }

  /** The hosts that have the indices now: spares in place of those they replaced. */
  get specs(): HostSpec[] {
    return this.#members.map(({ spec }) => spec);
  }

  nameOf(host: HostIndex): string {
    return this.get(host).spec.name;
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
    const incarnation = before.incarnation + (event === 'plan' ? 1 : 0);
    const member = { ...before, ...CLEARED[event], ...change, incarnation, state, parent };
    this.#members[host] = member;
    this.#childSet(before.parent).delete(host);
    this.#childSet(parent).add(host);
    this.#counts.set(before.state, this.count(before.state) - 1);
    this.#counts.set(state, this.count(state) + 1);
    this.onEvent(host);
    return member;
  }

  /** The next incarnation of a host is being started below `parent`, unless the host has left. */
  renew(host: HostIndex, parent: ParentHost): void {
    if (this.get(host).state === 'left') return;
    this.apply(host, 'plan', { parent });
    this.apply(host, 'start');
  }

  /** What is known besides its state. */
  note(host: HostIndex, columns: Partial<MemberColumns>): void {
    this.#members[host] = { ...this.get(host), ...columns };
  }

  /** This host has the index from now on. */
  assign(host: HostIndex, spec: HostSpec): void {
    const before = this.get(host);
    this.#members[host] = { ...before, spec, ...(spec.name !== before.spec.name && OF_SPEC) };
  }

  /** Ends a pause, too: it is not started again. */
  drain(host: HostIndex, isDraining: boolean): void {
    this.note(host, { isDraining, isPausing: false, isLeaving: isDraining && this.get(host).isLeaving });
  }

  count(...states: readonly MemberState[]): number {
    return states.reduce((sum, state) => sum + (this.#counts.get(state) ?? 0), 0);
  }

  /** Those in these states; all, where none is named. */
  hosts(...states: readonly MemberState[]): HostIndex[] {
    const isMeant = ({ state }: Member): boolean => states.length === 0 || states.includes(state);
    return this.#members.filter(isMeant).map(({ host }) => host);
  }

  /** Its incarnation takes no part any more, and nothing is expected of it. */
  isGone(host: HostIndex): boolean {
    const { state } = this.get(host);
    return state === 'left' || state === 'failed' || state === 'fenced';
  }

  /** Its agent is being started, or is to be, while the session runs. */
  isRestarting(host: HostIndex): boolean {
    const { isPausing, start } = this.get(host);
    return isPausing || start !== undefined;
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
