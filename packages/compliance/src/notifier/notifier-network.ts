/**
 * Agents that run one notifier each, over links whose messages take 1 to LATENCY_MS: pure, in whole milliseconds, all
 * randomness from a seed. Agents die at a time, or after so many messages; nobody is told before the test says so.
 */

import type {
  MemberId, Notifier, NotifierAction, NotifierEvent, NotifierModule, Position, Topology,
} from '@stci/interface';
import * as assert from '../kit/assert.js';
import { frozen } from '../kit/frozen.js';
import { seededIntegers, type IntegerSource } from '../kit/seeded.js';
import { progress } from '../kit/stall.js';

export const LATENCY_MS = 10;
/** Of each agent, without a message. */
const DUES_MAX = 100;

export interface NotifierNetworkInit {
  readonly module: NotifierModule;
  readonly topologyOf: ((size: number) => Topology) | undefined;
  readonly members: readonly MemberId[];
  readonly seed: number;
  /** A message takes at most so long; default LATENCY_MS. */
  readonly latencyMs?: number;
  /** What their clocks show at the start, whose time is 0 here; default: 0. */
  readonly startMs?: number;
}

interface Agent {
  readonly id: MemberId;
  readonly notifier: Notifier;
  /** Messages that it sends before it dies. */
  sendsLeft: number;
  /** In the order of delivery, `source payload`, with the time. */
  readonly delivered: { readonly what: string; readonly atMs: number }[];
}

export class NotifierNetwork {
  readonly agents = new Map<Position, Agent>();
  /** Bodies sent, by receiver. */
  readonly sent: { readonly from: MemberId; readonly to: Position; readonly body: unknown }[] = [];
  nowMs = 0;
  #sentMax = 0;
  /** Timers that ran since there was another event. */
  #dues = 0;
  readonly #init: NotifierNetworkInit;
  readonly #random: IntegerSource;
  readonly #events: (() => void)[][] = [];

  constructor(init: NotifierNetworkInit) {
    this.#init = init;
    this.#random = seededIntegers(init.seed);
    const members = frozen(init.members);
    for (const member of members) this.#open(member, members);
  }

  /** Another incarnation takes part; all agents are told. */
  join(member: MemberId): void {
    const members = [...this.agents.values()].map(({ id }) => id).filter((id) => id.position !== member.position);
    this.#open(frozen(member), frozen([...members, member]));
    this.tell({ type: 'joined', member });
  }

  /** Dies after `sends` more messages. */
  kill(position: Position, sends = 0): void {
    this.agents.get(position)!.sendsLeft = sends;
  }

  isAlive(position: Position): boolean {
    return (this.agents.get(position)?.sendsLeft ?? 0) > 0;
  }

  survivors(): Position[] {
    return [...this.agents.keys()].filter((position) => this.isAlive(position));
  }

  tell(event: NotifierEvent): void {
    for (const position of this.survivors()) this.#on(position, event);
  }

  tellOthers(but: Position, event: NotifierEvent): void {
    for (const position of this.survivors()) if (position !== but) this.#on(position, event);
  }

  broadcast(source: Position, payload: Uint8Array): void {
    this.#sentMax += 3 * this.agents.size ** 2;
    this.#on(source, { type: 'broadcast', payload });
  }

  /** The message reaches the agent now. */
  receive(to: Position, from: MemberId, body: unknown): void {
    this.#on(to, { type: 'message', from, body });
  }

  /** Until nothing is left to do; the time then. */
  run(): number {
    while (this.step());
    return this.nowMs;
  }

  /** A millisecond. False: nothing is left to do. */
  step(): boolean {
    if (this.nowMs >= this.#events.length) return false;
    const events = this.#events[this.nowMs] ?? [];
    for (const event of events) event();
    this.nowMs++;
    return true;
  }

  deliveries(position: Position): string[] {
    return this.agents.get(position)!.delivered.map(({ what }) => what);
  }

  #open(id: MemberId, members: readonly MemberId[]): void {
    const { module, topologyOf } = this.#init;
    const notifier = module.open(Object.freeze({ self: id, members, topologyOf }));
    this.agents.set(id.position, { id, notifier, sendsLeft: Number.POSITIVE_INFINITY, delivered: [] });
  }

  #on(position: Position, event: NotifierEvent): void {
    const agent = this.agents.get(position);
    if (agent === undefined || !this.isAlive(position)) return;
    progress();
    this.#dues = event.type === 'due' ? this.#dues + 1 : 0;
    const isEndless = this.#dues > DUES_MAX + DUES_MAX * this.agents.size;
    if (isEndless) throw new Error(`timers run without end: ${this.#dues} since the last message`);
    const startMs = this.#init.startMs ?? 0;
    const actions: unknown = agent.notifier.on(Object.freeze(event), startMs + this.nowMs);
    if (!Array.isArray(actions)) throw new Error(`on ${event.type} it answers with no list of actions`);
    for (const action of actions as NotifierAction[]) this.#do(agent, action);
    const { dueMs } = agent.notifier;
    if (dueMs === undefined || !this.isAlive(position)) return;
    const due = dueMs - startMs;
    assert.ok(due >= this.nowMs, `dueMs is ${dueMs}, which is over at ${startMs + this.nowMs} ms`);
    assert.ok(event.type !== 'due' || due > this.nowMs, 'what was due has been done');
    this.#at(Math.ceil(due), () => {
      if ((agent.notifier.dueMs ?? Infinity) <= startMs + this.nowMs) this.#on(position, { type: 'due' });
    });
  }

  #do(agent: Agent, action: NotifierAction): void {
    if (agent.sendsLeft <= 0) return;
    if (action.type === 'deliver') {
      const { source, payload } = action;
      assert.ok(source.position !== agent.id.position || source.incarnation !== agent.id.incarnation, 'not to itself');
      agent.delivered.push({ what: `${source.position}#${source.incarnation} ${payload.join()}`, atMs: this.nowMs });
      return;
    }
    agent.sendsLeft--;
    const { to, body } = action;
    assert.ok(to !== agent.id.position, 'no message to itself');
    assert.ok(this.agents.has(to), `agent ${agent.id.position} sends to agent ${to}, and nobody is there`);
    this.sent.push({ from: agent.id, to, body });
    if (this.sent.length > this.#sentMax) throw new Error(`agents send without end: ${this.#sentMax} messages`);
    // Of an agent that dies, what is under way may be lost.
    const isLost = this.#random(2) === 0;
    this.#at(this.nowMs + 1 + this.#random(this.#init.latencyMs ?? LATENCY_MS), () => {
      if (agent.sendsLeft > 0 || !isLost) this.receive(to, agent.id, body);
    });
  }

  #at(atMs: number, event: () => void): void {
    (this.#events[Math.max(atMs, this.nowMs)] ??= []).push(event);
  }
}

/** Positions 0..size-1 in their first incarnation; 0 for the controller. */
export function membersOf(size: number): MemberId[] {
  return Array.from({ length: size }, (_, position) => ({ position, incarnation: Math.min(position, 1) }));
}
