/**
 * Probes of hosts by the controller: an agent, and those above it in the boot tree, are asked for an answer. Messages
 * may follow the tree: hosts below one that stands still seem silent, too.
 */

import { bootHost, bootPosition, type HostIndex, type MemberId, type Position, type Timer } from '@stci/interface';
import type { MembershipTable } from '../membership/table.js';
import { addressAt } from '../overlay/members.js';
import { probeMs } from './failure-watch.js';
import type { AgentNode } from './node.js';

export interface HostProbesInit {
  readonly node: AgentNode;
  table(): MembershipTable;
  /** The overlay leads around those that the tree has lost. */
  readonly hasOverlay: boolean;
}

/** `first`: on the way from the controller, that did not answer; undefined: all did. `isSilent`: nor did the host. */
type Done = (first: MemberId | undefined, isSilent: boolean) => void;

interface Probe {
  readonly member: MemberId;
  readonly done: Done;
  /** It is not repeated after that. */
  readonly untilMs: number;
  /** The last answers come at this time at the latest. */
  readonly endMs: number;
  /** One above answered late, because it stood still: those below had little time. */
  wasLate: boolean;
  /** The first that did not answer the last time. */
  doubted?: Position | undefined;
}

export class HostProbes {
  readonly #init: HostProbesInit;
  /** Incarnations that are being asked. */
  readonly #open = new Map<HostIndex, number>();
  readonly #timers = new Set<Timer>();
  #isStopped = false;

  constructor(init: HostProbesInit) {
    this.#init = init;
  }

  /** Nothing is asked any more. */
  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
  }

  isOpen({ position, incarnation }: MemberId): boolean {
    return this.#open.get(bootHost(position)) === incarnation;
  }

  probe(member: MemberId, done: Done): void {
    const { params, platform: { clock } } = this.#init.node;
    this.#open.set(bootHost(member.position), member.incarnation);
    this.#ask({ member, done, untilMs: clock.nowMs() + params.int('bootcom.lease'), endMs: 0, wasLate: false });
  }

  #ask(probe: Probe): void {
    const { node } = this.#init;
    const { params, platform: { clock } } = node;
    const way = this.#wayTo(bootHost(probe.member.position));
    const timeoutMs = probeMs(params);
    const endMs = clock.nowMs() + timeoutMs;
    const silent = new Set(way);
    let asked = way.length;
    let isLate = false;
    const onSettled = (one: MemberId, hasAnswered: boolean): void => {
      if (hasAnswered) silent.delete(one);
      isLate ||= hasAnswered && clock.nowMs() > endMs - timeoutMs / 2;
      asked -= 1;
      if (asked === 0) this.#onSettled({ ...probe, endMs }, way, silent, isLate);
    };
    for (const one of way) {
      const onReply = (error: unknown): void => onSettled(one, error === undefined);
      node.messages.request(addressAt(one.position), 'agent.echo', 0, onReply, { timeoutMs });
    }
  }

  #onSettled(probe: Probe, way: readonly MemberId[], silent: ReadonlySet<MemberId>, isLate: boolean): void {
    const { member, done, untilMs, endMs, wasLate, doubted } = probe;
    const { clock } = this.#init.node.platform;
    const host = bootHost(member.position);
    const first = way.find((each) => silent.has(each));
    // One above that answered may have died since, and with it the answer of the next.
    const isInDoubt = first !== undefined && first !== way[0] && first !== way.at(-1) && doubted !== first.position;
    const isAgain = first !== undefined && this.#isThere(member)
      && ((isLate && !wasLate) || ((isInDoubt || !this.#isSteady(way, host)) && clock.nowMs() < untilMs));
    // Not at once: that nothing leads to an agent is answered without delay.
    if (isAgain) {
      if (this.#isStopped) return;
      const timer = clock.after(Math.max(0, endMs - clock.nowMs()), () => {
        this.#timers.delete(timer);
        this.#ask({ ...probe, wasLate: wasLate || isLate, doubted: first.position });
      });
      this.#timers.add(timer);
      return;
    }
    if (this.isOpen(member)) this.#open.delete(host);
    done(first, silent.has(way.at(-1) as MemberId));
  }

  /** From the one below the controller to this host's. */
  #wayTo(host: HostIndex): MemberId[] {
    const { hasOverlay } = this.#init;
    const table = this.#init.table();
    const way: HostIndex[] = [host];
    for (let at = table.get(host).parent; at !== undefined; at = table.get(at).parent) {
      if (!hasOverlay || table.get(at).state === 'up') way.unshift(at);
    }
    return way.map((at) => ({ position: bootPosition(at), incarnation: table.get(at).incarnation }));
  }

  #isThere({ position, incarnation }: MemberId): boolean {
    const [host, table] = [bootHost(position), this.#init.table()];
    return !table.isGone(host) && table.get(host).incarnation === incarnation;
  }

  /**
   * Whether the way is what it was, and no agent on it is just being linked to another, or asked after itself: what did
   * not come back through such says nothing about those below. One above may have answered over a link of the overlay,
   * while the tree leads to it no more.
   */
  #isSteady(way: readonly MemberId[], host: HostIndex): boolean {
    const { hasOverlay, table } = this.#init;
    const now = this.#wayTo(host);
    if (way.slice(0, -1).some((above) => this.isOpen(above))) return false;
    return now.length === way.length && way.every(({ position, incarnation }, i) => {
      const isSame = position === now[i]?.position && incarnation === now[i]?.incarnation;
      return isSame && (hasOverlay || table().get(bootHost(position)).state === 'up');
    });
  }
}
