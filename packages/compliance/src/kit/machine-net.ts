/**
 * Pure machines on a network, with a virtual clock: each is passed events and answers with actions, at the times at
 * which it is due. Messages take a while; agents die, at once or after so many messages, stand still, are cut off, are
 * replaced by others. What an action means, and what is wrong with it, is of the contract whose machines they are.
 *
 * Pure: the seed decides everything, so that thousands of runs take seconds.
 */

import type { MemberId, Position } from '@stci/interface';
import { EventQueue, SimEvent } from '@stci/platform-sim';
import { seededIntegers, type IntegerSource } from './seeded.js';
import { progress } from './stall.js';

/** A machine that is due again at the same time has not done what it was due for. */
const DUE_AT_ONCE_MAX = 3;
const POSITIONS_MAX = 2 ** 20;

interface Machine<Event, Action> {
  readonly dueMs: number | undefined;
  on(event: Event, nowMs: number): readonly Action[];
}

/** One agent: its machine, and what it does not hear or do meanwhile. */
export class NetAgent<Event, Action> {
  readonly member: MemberId;
  readonly machine: Machine<Event, Action>;
  /** Messages that it sends before it dies. */
  sendsLeft = Infinity;
  /** The agent is not there yet: messages wait for its start. */
  isAway = false;
  /** Timers of the machine pass. */
  hasTimers = true;
  frozenSinceMs: number | undefined;
  frozenUntilMs = 0;
  /** Times in which it stood still, which are over. */
  readonly standstills: { readonly sinceMs: number; readonly untilMs: number }[] = [];
  /** What arrived while it stood still, or before it was there. */
  readonly waiting: Event[] = [];
  timerMs: number | undefined;

  constructor(member: MemberId, machine: Machine<Event, Action>) {
    this.member = member;
    this.machine = machine;
  }

  get isAlive(): boolean {
    return this.sendsLeft > 0;
  }
}

class Call extends SimEvent {
  readonly code = 0;
  readonly fire: () => void;

  constructor(run: () => void) {
    super(undefined);
    this.fire = run;
  }
}

export interface MachineNetInit {
  readonly seed: number;
  /** What the clock shows at the start; default: 0. */
  readonly startMs?: number | undefined;
  /** So much later than it is due is what is due passed; default: 0. */
  readonly lateMs?: number | undefined;
  /** Messages keep their order on each link. */
  readonly inOrder?: boolean;
}

export abstract class MachineNet<
  Event extends { readonly type: string }, Action, Agent extends NetAgent<Event, Action>,
> {
  readonly agents = new Map<Position, Agent>();
  nowMs: number;
  /** Uniform in 0..limit-1. */
  readonly below: IntegerSource;
  readonly #queue = new EventQueue();
  readonly #init: MachineNetInit;
  /** By link, when the last message comes. */
  readonly #arrivals = new Map<number, number>();
  #cut: ReadonlySet<Position> = new Set();

  constructor(init: MachineNetInit) {
    this.#init = init;
    this.below = seededIntegers(init.seed);
    this.nowMs = init.startMs ?? 0;
  }

  /** Carries it out. `event`: on what it answered so. */
  protected abstract act(agent: Agent, action: Action, event: Event): void;

  /** Latency of the next message. */
  protected delayMs(): number {
    return 0;
  }

  /** The agent goes on after it stood still for so long. */
  protected thawed?(agent: Agent, lagMs: number): void;

  /** Uniform in [0, 1). */
  random = (): number => this.below(0x4000_0000) / 0x4000_0000;

  agent(position: Position): Agent {
    return this.agents.get(position) as Agent;
  }

  get living(): Position[] {
    return [...this.agents].flatMap(([position, { isAlive }]) => (isAlive ? [position] : []));
  }

  at(atMs: number, run: () => void): void {
    this.#queue.push(new Call(run), atMs);
  }

  /** Runs until then, or until nothing is left to do. */
  run(untilMs = Infinity): void {
    for (let next = this.#queue.peek(); next !== undefined && next.timeMs <= untilMs; next = this.#queue.peek()) {
      this.step();
    }
    if (untilMs < Infinity) this.nowMs = Math.max(this.nowMs, untilMs);
  }

  /** What happens next. False: nothing is left to do. */
  step(): boolean {
    const next = this.#queue.pop();
    if (next === undefined) return false;
    this.nowMs = Math.max(this.nowMs, next.timeMs);
    next.fire();
    return true;
  }

  /** The agent stands still: what arrives waits, and its timers are late. */
  freeze(position: Position, forMs: number): void {
    const agent = this.agent(position);
    agent.frozenSinceMs ??= this.nowMs;
    agent.frozenUntilMs = Math.max(agent.frozenUntilMs, this.nowMs + forMs);
    this.at(agent.frozenUntilMs, () => this.#thaw(this.agent(position)));
  }

  /** Nothing passes between these and the others, until `cut([])`. */
  cut(positions: readonly Position[]): void {
    this.#cut = new Set(positions);
  }

  /** An event for the machine at this position, now. */
  give(position: Position, event: Event): void {
    const agent = this.agents.get(position);
    if (agent?.isAlive !== true) return;
    if (agent.frozenSinceMs !== undefined || (agent.isAway && event.type === 'message')) agent.waiting.push(event);
    else this.on(agent, event);
  }

  protected on(agent: Agent, event: Event): void {
    progress();
    const actions: unknown = agent.machine.on(Object.freeze(event), this.nowMs);
    if (!Array.isArray(actions)) throw new Error(`on ${event.type} it answers with no list of actions`);
    for (const action of actions as Action[]) if (agent.isAlive) this.act(agent, action, event);
    this.#arm(agent);
  }

  protected isCut(a: Position, b: Position): boolean {
    return this.#cut.has(a) !== this.#cut.has(b);
  }

  /** `isLost`: asked when it arrives. */
  protected send(
    { member: { position: from } }: Agent, to: Position, event: Event, isLost: (receiver: Agent) => boolean,
  ): void {
    if (to === from || !this.agents.has(to)) {
      throw new Error(`agent ${from} sends to ${to === from ? 'itself' : `agent ${to}, and nobody is there`}`);
    }
    if (this.isCut(from, to)) return;
    const link = from * POSITIONS_MAX + to;
    const atMs = Math.max(this.nowMs + this.delayMs(), this.#arrivals.get(link) ?? 0);
    if (this.#init.inOrder === true) this.#arrivals.set(link, atMs);
    const receiver = this.agent(to);
    this.at(atMs, () => {
      if (!this.isCut(from, to) && !isLost(receiver)) this.give(to, event);
    });
  }

  #thaw(agent: Agent): void {
    if (!agent.isAlive || agent.frozenSinceMs === undefined || this.nowMs < agent.frozenUntilMs) return;
    const sinceMs = agent.frozenSinceMs;
    agent.standstills.push({ sinceMs, untilMs: this.nowMs });
    agent.frozenSinceMs = undefined;
    this.thawed?.(agent, this.nowMs - sinceMs);
    // Timers before messages, as event loops have it.
    this.#onTimer(agent);
    this.catchUp(agent);
  }

  /** What has waited for it. */
  protected catchUp(agent: Agent): void {
    for (const event of agent.waiting.splice(0)) this.give(agent.member.position, event);
  }

  #arm(agent: Agent): void {
    const { dueMs } = agent.machine;
    if (dueMs === undefined || !Number.isFinite(dueMs)) return;
    const atMs = Math.max(dueMs, this.nowMs) + (this.#init.lateMs ?? 0);
    if (agent.timerMs !== undefined && agent.timerMs <= atMs) return;
    agent.timerMs = atMs;
    this.at(atMs, () => {
      if (agent.timerMs === atMs) agent.timerMs = undefined;
      this.#onTimer(agent);
    });
  }

  #onTimer(agent: Agent): void {
    for (let times = 0; ; times++) {
      const { dueMs } = agent.machine;
      if (!agent.isAlive || agent.frozenSinceMs !== undefined || !agent.hasTimers) return;
      if (this.agents.get(agent.member.position) !== agent) return;
      if (dueMs === undefined || dueMs > this.nowMs) break;
      if (times === DUE_AT_ONCE_MAX) throw new Error(`due at ${dueMs} ms, still due after ${times} calls`);
      this.on(agent, { type: 'due' } as Event);
    }
    this.#arm(agent);
  }
}
