/** The injections of one repeat: waits for their moments, orders them of the session, follows what becomes of each. */

import type { Clock, FaultOrder, FaultReport, FaultVictim, JobEvent, JobId, Rank, Timer } from '@stci/interface';
import type { PlannedInjection, RepeatPlan, TRIGGER_EVENTS } from '../experiment/contracts.js';
import type { HistoryEntry, InjectionState } from '../history/contracts.js';
import type { ExperimentClient } from './contracts.js';
import type { Within } from '../judge/within.js';
import { Schedule } from './schedule.js';
import type { Timers } from './timers.js';
import { Triggers } from './triggers.js';

/** How much later than its time-out, or its end, an order is given up of which nothing is heard. */
const SILENCE_MS = 10_000;

export interface InjectorInit {
  readonly plan: RepeatPlan;
  readonly clock: Clock;
  readonly timers: Timers;
  /** For patterns of triggers. */
  readonly within?: Within | undefined;
  readonly client: ExperimentClient;
  /** This process may be a victim. */
  readonly allowsFrontEnd: boolean;
  record(entry: HistoryEntry): void;
  /** A fault at the front-end itself. */
  killSelf(): void;
}

interface Order {
  readonly injection: PlannedInjection;
  readonly victim: FaultVictim;
  /** Number of the victim; undefined: there is one only. */
  readonly number: number | undefined;
  /** Agents at which it is in force. */
  readonly inForce: Set<string>;
  isInjected: boolean;
  isOver: boolean;
  watch: Timer | undefined;
}

export class Injector {
  readonly #init: InjectorInit;
  readonly #schedule: Schedule;
  readonly #triggers: Triggers;
  readonly #orders = new Map<string, Order>();
  /** Orders that are not over, by injection. */
  readonly #open = new Map<string, number>();
  #job: JobId = 0;
  #timer: Timer | undefined;
  #injected = 0;
  #isStopped = false;

  constructor(init: InjectorInit) {
    this.#init = init;
    const { injections } = init.plan;
    this.#schedule = new Schedule(injections);
    const triggers = injections.flatMap(({ follows, trigger }) => (follows === undefined ? [trigger] : []));
    this.#triggers = new Triggers(triggers, {
      onFired: (key) => {
        this.#schedule.fire(key, init.clock.nowMs());
        this.#plan();
      },
      within: init.within,
      onLate: (pattern) => init.record({
        type: 'problem', repeat: init.plan.repeat,
        text: `The pattern /${pattern}/ takes too long on the output, or is too large, and is not looked for any more. `
          + 'Make it simpler: repetitions within repetitions take forever on some texts.',
      }),
    });
  }

  /** Faults that have been in force. */
  get injected(): number {
    return this.#injected;
  }

  /** The job was accepted. */
  open(job: JobId): void {
    this.#job = job;
    this.onMoment('launch');
  }

  onMoment(event: (typeof TRIGGER_EVENTS)[number]): void {
    if (!this.#isStopped) this.#triggers.onEvent(event);
  }

  onJobEvent(event: JobEvent): void {
    if (!this.#isStopped) this.#triggers.onJobEvent(event);
  }

  onOutput(rank: Rank, stream: 'stdout' | 'stderr', text: string | undefined): void {
    if (!this.#isStopped) this.#triggers.onOutput(rank, stream, text);
  }

  /** Ends injections: those whose moment has not come are recorded. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#init.timers.cancelAll();
    for (const injection of this.#schedule.rest()) this.#record(injection, 'never', 'its moment did not come');
  }

  /** Takes reports, after `stop`, too: what is undone then. */
  onReport(report: FaultReport): void {
    const { id, agent, host, state, text, wallMs, monotonicMs } = report;
    const order = this.#orders.get(id);
    if (order === undefined) return;
    const { injection, number, victim } = order;
    this.#record(injection, state, text,
      { ...numbered(number), host, agent, sourceWallMs: wallMs, sourceMonotonicMs: monotonicMs });
    if (state === 'injected') {
      order.inForce.add(agent);
      if (!order.isInjected) this.#onInjected(order);
      this.#triggers.onInjected(injection.fault, victim);
    } else if (!order.inForce.delete(agent) && state === 'lapsed') {
      // The controller speaks for an agent that cannot: one of those at which it was in force.
      order.inForce.delete([...order.inForce][0] ?? '');
    }
    const isOver = state === 'injected' ? injection.durationMs === undefined : order.inForce.size === 0;
    if (isOver) this.#onOver(order);
    this.#plan();
  }

  #onInjected(order: Order): void {
    order.isInjected = true;
    this.#injected += 1;
    this.#schedule.onInjected(order.injection.id, this.#init.clock.nowMs());
    this.#watch(order, order.injection.durationMs ?? 0);
  }

  #onOver(order: Order): void {
    if (order.isOver) return;
    order.isOver = true;
    order.watch?.cancel();
    const { id } = order.injection;
    const left = (this.#open.get(id) ?? 1) - 1;
    this.#open.set(id, left);
    if (left === 0) this.#schedule.onOver(id, this.#init.clock.nowMs());
  }

  /** Sets the timer for what is due next; injects what is due now. */
  #plan(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#isStopped) return;
    const { clock, timers } = this.#init;
    const { nextMs } = this.#schedule;
    if (nextMs === undefined) return;
    this.#timer = timers.after(Math.max(0, nextMs - clock.nowMs()), () => {
      for (const injection of this.#schedule.take(clock.nowMs())) this.#inject(injection);
      this.#plan();
    });
  }

  #inject(injection: PlannedInjection): void {
    const { victims } = injection;
    this.#record(injection, 'due', '');
    this.#open.set(injection.id, victims.length);
    if (victims.length === 0) {
      this.#record(injection, 'skipped', 'it has no victim');
      this.#schedule.onOver(injection.id, this.#init.clock.nowMs());
    }
    for (const [index, victim] of victims.entries()) {
      const number = victims.length > 1 ? index : undefined;
      const id = number === undefined ? injection.id : `${injection.id}~${number}`;
      const order: Order =
        { injection, victim, number, inForce: new Set(), isInjected: false, isOver: false, watch: undefined };
      this.#orders.set(id, order);
      this.#record(injection, 'ordered', '', numbered(number));
      if (victim.kind === 'agent' && victim.role === 'front-end') this.#injectHere(id, order);
      else this.#init.client.experiment.inject(this.#orderOf(id, order));
      this.#watch(order, injection.timeoutMs);
    }
  }

  #orderOf(id: string, { injection, victim }: Order): FaultOrder {
    const { kind, args, durationMs, timeoutMs } = injection;
    return { id, kind, args, victim, job: this.#job, timeoutMs, ...(durationMs !== undefined && { durationMs }) };
  }

  /** At the front-end, which this process is. */
  #injectHere(id: string, { injection }: Order): void {
    const { clock, allowsFrontEnd } = this.#init;
    const isKill = injection.kind === 'agent' && allowsFrontEnd;
    const refusal = allowsFrontEnd ? `kind ${injection.kind} cannot be done to the front-end: only kind agent can`
      : 'the front-end is no victim unless the experiment allows it: allow: front-end';
    this.onReport({
      id, agent: 'front-end', host: 0, wallMs: clock.wallMs(), monotonicMs: clock.nowMs(),
      state: isKill ? 'injected' : 'failed',
      text: isKill ? 'killed' : refusal,
    });
    if (isKill) this.#init.killSelf();
  }

  /** Watches an order of which nothing is heard any more. */
  #watch(order: Order, afterMs: number): void {
    order.watch?.cancel();
    if (order.isOver || this.#isStopped) return;
    order.watch = this.#init.timers.after(afterMs + SILENCE_MS, () => {
      const { injection, number } = order;
      if (!order.isInjected) this.#record(injection, 'failed', 'the session has not answered', numbered(number));
      this.#onOver(order);
      this.#plan();
    });
  }

  #record(
    { id }: PlannedInjection, state: InjectionState, text: string,
    more: Partial<Extract<HistoryEntry, { readonly type: 'injection' }>> = {},
  ): void {
    this.#init.record({ type: 'injection', repeat: this.#init.plan.repeat, id, state, text, ...more });
  }
}

function numbered(number: number | undefined): { readonly victim?: number } {
  return number === undefined ? {} : { victim: number };
}
