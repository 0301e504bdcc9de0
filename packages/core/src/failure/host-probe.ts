/**
 * Probes of hosts by the controller: an agent, and those above it in the boot tree, are asked for an answer. Messages
 * may follow the tree: hosts below one that stands still seem silent, too; and those below a link that is cut, while
 * the agent at its lower end answers by the overlay. That one asks them, too.
 *
 * A member that is suspected is asked before it is reported, again and again until it answers: once it is reported,
 * what has been found until then is the answer.
 */

import { bootHost, bootPosition, type Address, type HostIndex, type MemberId } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import { addressAt } from '../members/positions.js';
import type { MembershipTable } from '../membership/table.js';
import type { AgentNode } from '../node/node.js';
import { PROBE_LATENCIES, probeMs } from '../peers/probe-time.js';

export interface HostProbesInit {
  readonly node: AgentNode;
  /** At its end nothing is asked any more. */
  readonly holds: Scope;
  table(): MembershipTable;
  /** Agents may answer by another way than the tree. */
  hasOverlay(): boolean;
}

/** `first`: on the way from the controller, that did not answer; undefined: all did. `isSilent`: nor did the host. */
type Done = (first: MemberId | undefined, isSilent: boolean) => void;

/** Who asks after a member, and what is known. */
interface Asked {
  readonly incarnation: number;
  /** Undefined: it is suspected only. */
  done: Done | undefined;
  /** Nobody answered last time; undefined: it has not been asked to the end. */
  found: Parameters<Done> | undefined;
}

interface Probe {
  readonly member: MemberId;
  readonly asked: Asked;
  /** It is not repeated after that. */
  readonly untilMs: number;
  /** The last answers come at this time at the latest. */
  readonly endMs: number;
  /** One above answered late, or not at all: it may have stood still, and those below had little time. */
  isOnceMore: boolean;
}

/** What has been found since those on the way were asked. */
interface Round {
  readonly id: number;
  readonly way: readonly MemberId[];
  readonly silent: Set<MemberId>;
  /** As `#isSteady`, when they were asked. */
  readonly wasSteady: boolean;
  /** One answered in the second half of the time. */
  isLate: boolean;
  /** One that had answered was silent when it was asked again. */
  hasGone: boolean;
}

/** One question to an agent, and all who wait for its answer. */
interface Echo {
  readonly sinceMs: number;
  readonly askers: ((hasAnswered: boolean) => void)[];
}

/** Questions for the controller that one agent has open at a time: further ones are dropped. */
const QUESTIONS_MAX = 1024;

/** At a root agent: asks other agents for the controller, which may be cut off from them. */
export function answerProbes(node: AgentNode): void {
  const { messages, params } = node;
  let open = 0;
  messages.on('probe.ask', ({ probe, agent }, { source }) => {
    if (open >= QUESTIONS_MAX) return;
    open += 1;
    messages.request(agent, 'agent.echo', 0, (error) => {
      open -= 1;
      if (error === undefined) messages.post(source, 'probe.answered', { probe, agent });
    }, { timeoutMs: probeMs(params) });
  });
}

export class HostProbes {
  readonly #init: HostProbesInit;
  readonly #open = new Map<HostIndex, Asked>();
  /** By probe: half of its time, then the pause after it. */
  readonly #timers: Timers<number>;
  /** Echoes under way, by agent and time for the answer. */
  readonly #echoes = new Map<string, Echo>();
  /** What is done about the answers that agents have got for this one, by probe. */
  readonly #answers = new Map<number, (agent: Address, from: Address) => void>();
  #probes = 0;

  constructor(init: HostProbesInit) {
    this.#init = init;
    this.#timers = new Timers(init.node.platform.clock, init.holds);
    init.node.messages.on('probe.answered', ({ probe, agent }, { source }) =>
      this.#answers.get(probe)?.(agent, source));
  }

  /** It was reported, and is asked. */
  isOpen(member: MemberId): boolean {
    return this.#askedOf(member)?.done !== undefined;
  }

  /** It may be reported soon. */
  suspect(member: MemberId): void {
    if (this.#askedOf(member) === undefined) this.#begin(member, undefined);
  }

  probe(member: MemberId, done: Done): void {
    const asked = this.#askedOf(member);
    if (asked === undefined) return this.#begin(member, done);
    asked.done = done;
    if (asked.found === undefined) return;
    this.#open.delete(bootHost(member.position));
    done(...asked.found);
  }

  #askedOf({ position, incarnation }: MemberId): Asked | undefined {
    const asked = this.#open.get(bootHost(position));
    return asked?.incarnation === incarnation ? asked : undefined;
  }

  #begin(member: MemberId, done: Done | undefined): void {
    const { params, platform: { clock } } = this.#init.node;
    const asked: Asked = { incarnation: member.incarnation, done, found: undefined };
    this.#open.set(bootHost(member.position), asked);
    this.#ask({ member, asked, untilMs: clock.nowMs() + params.int('bootcom.lease'), endMs: 0, isOnceMore: false });
  }

  #ask(probe: Probe): void {
    const { asked } = probe;
    if (this.#askedOf(probe.member) !== asked) return;
    const { params, platform: { clock } } = this.#init.node;
    const host = bootHost(probe.member.position);
    const way = this.#wayTo(host);
    const id = ++this.#probes;
    const timeoutMs = probeMs(params);
    const endMs = clock.nowMs() + timeoutMs;
    const wasSteady = this.#isSteady(way, host);
    const round: Round = { id, way, silent: new Set(way), wasSteady, isLate: false, hasGone: false };
    const awaited = new Set(way);
    const onSettled = (one: MemberId, hasAnswered: boolean): void => {
      if (!awaited.delete(one)) return;
      if (hasAnswered) round.silent.delete(one);
      if (hasAnswered && asked.found?.[0]?.position === one.position) asked.found = undefined;
      if (awaited.size > 0) return;
      this.#timers.clear(id);
      this.#answers.delete(id);
      this.#onSettled({ ...probe, endMs }, round);
    };
    this.#timers.set(id, timeoutMs / 2, () => {
      const first = way.findIndex((one) => round.silent.has(one));
      const above = way[first - 1];
      if (above === undefined) return;
      // It may have died since, and with it the answer of the next.
      awaited.add(above);
      this.#echo(above, timeoutMs / 2, (hasAnswered) => {
        round.hasGone ||= !hasAnswered;
        onSettled(above, hasAnswered);
      });
      if (this.#init.hasOverlay()) this.#askAround(id, above, way.slice(first), (one) => onSettled(one, true));
    });
    for (const one of way) {
      this.#echo(one, timeoutMs, (hasAnswered) => {
        round.isLate ||= hasAnswered && clock.nowMs() > endMs - timeoutMs / 2;
        onSettled(one, hasAnswered);
      });
    }
  }

  /** The answer to a question that has just been put counts for whoever asks the same: of many below one agent. */
  #echo({ position }: MemberId, timeoutMs: number, done: (hasAnswered: boolean) => void): void {
    const { messages, platform: { clock } } = this.#init.node;
    const key = `${position} ${timeoutMs}`;
    const open = this.#echoes.get(key);
    if (open !== undefined && clock.nowMs() <= open.sinceMs + timeoutMs / PROBE_LATENCIES) {
      open.askers.push(done);
      return;
    }
    const echo: Echo = { sinceMs: clock.nowMs(), askers: [done] };
    this.#echoes.set(key, echo);
    messages.request(addressAt(position), 'agent.echo', 0, (error) => {
      if (this.#echoes.get(key) === echo) this.#echoes.delete(key);
      for (const asker of echo.askers) asker(error === undefined);
    }, { timeoutMs });
  }

  /** The last agent that answers, by the overlay maybe, asks those below it: of the tree a link above it may be cut. */
  #askAround(
    probe: number, by: MemberId, silent: readonly MemberId[], onAnswer: (one: MemberId) => void,
  ): void {
    const asked = addressAt(by.position);
    const below = new Map(silent.map((one) => [addressAt(one.position), one]));
    this.#answers.set(probe, (agent, from) => {
      const one = from === asked ? below.get(agent) : undefined;
      if (one !== undefined) onAnswer(one);
    });
    for (const agent of below.keys()) this.#init.node.messages.post(asked, 'probe.ask', { probe, agent });
  }

  #onSettled(probe: Probe, { id, way, silent, wasSteady, isLate, hasGone }: Round): void {
    const { member, asked, untilMs, endMs } = probe;
    if (this.#askedOf(member) !== asked) return; // It was reported meanwhile, and what was found before was told.
    const { clock } = this.#init.node.platform;
    const host = bootHost(member.position);
    const first = way.find((each) => silent.has(each));
    // One that was linked meanwhile may have got the question too late to answer it in time.
    const isSteady = wasSteady && this.#isSteady(way, host);
    const isAbove = first !== undefined && first.position !== member.position;
    const isOnceMore = !probe.isOnceMore && (isLate || isAbove);
    const isUnclear = isOnceMore || ((hasGone || !isSteady) && clock.nowMs() < untilMs);
    const isEarly = asked.done === undefined && clock.nowMs() < untilMs;
    const isSilent = silent.has(way.at(-1) as MemberId);
    asked.found = isUnclear || first === undefined ? undefined : [first, isSilent];
    if (first !== undefined && this.isThere(member) && (isUnclear || isEarly)) {
      // Not at once: that nothing leads to an agent is answered without delay.
      const next = { ...probe, isOnceMore: isUnclear && (probe.isOnceMore || isOnceMore) };
      this.#timers.set(id, Math.max(0, endMs - clock.nowMs()), () => this.#ask(next));
      return;
    }
    this.#open.delete(host);
    asked.done?.(first, isSilent);
  }

  /** From the one below the controller to this host's. */
  #wayTo(host: HostIndex): MemberId[] {
    const table = this.#init.table();
    const way: HostIndex[] = [host];
    for (let at = table.get(host).parent; at !== undefined; at = table.get(at).parent) way.unshift(at);
    return way.map((at) => ({ position: bootPosition(at), incarnation: table.get(at).incarnation }));
  }

  /** It is the incarnation of its host that takes part, or may again. */
  isThere({ position, incarnation }: MemberId): boolean {
    const [host, table] = [bootHost(position), this.#init.table()];
    return !table.isGone(host) && table.get(host).incarnation === incarnation;
  }

  /**
   * Whether the way is what it was, and no agent on it is just being linked to another, or asked after itself: what did
   * not come back through such says nothing about those below. One above may have answered over a link of the overlay,
   * while the tree leads to it no more.
   */
  #isSteady(way: readonly MemberId[], host: HostIndex): boolean {
    const { table } = this.#init;
    const now = this.#wayTo(host);
    if (way.slice(0, -1).some((above) => this.isOpen(above))) return false;
    return now.length === way.length && way.every(({ position, incarnation }, i) => {
      const isSame = position === now[i]?.position && incarnation === now[i]?.incarnation;
      return isSame && table().get(bootHost(position)).state === 'up';
    });
  }
}
