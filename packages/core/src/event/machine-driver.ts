/**
 * Driver of pure machines, such as detectors and notifiers: events and the time go in, actions come out. It has the one
 * timer that they need, says how late it was, and stops a machine that throws; the others go on.
 */

import { StciError, type Clock, type Timer } from '@stci/interface';

export interface Machine<Event, Action> {
  /** When `due` is to be passed; undefined: only after another event. */
  readonly dueMs: number | undefined;
  on(event: Event, nowMs: number): readonly Action[];
}

export interface MachineDriverEvents<Event, Action> {
  onAction(name: string, action: Action, nowMs: number): void;
  /** The process could not run for so long when a machine was due. */
  onLate?(lagMs: number): void;
  /** A message does not fit, as a coded error says: it is dropped. */
  onMalformed?(name: string, event: Event, error: StciError): void;
  /** The machine threw: it has been removed. */
  onFault(name: string, error: StciError): void;
}

/** A timer is always a little late. */
const LATE_MS = 2;

interface Input<Event> {
  readonly event: Event;
  /** undefined: for all. */
  readonly name: string | undefined;
}

export class MachineDriver<Event extends { readonly type: string }, Action> {
  readonly #clock: Clock;
  readonly #what: string;
  readonly #events: MachineDriverEvents<Event, Action>;
  readonly #machines = new Map<string, Machine<Event, Action>>();
  /** What comes while another event is handled is handled afterwards. */
  readonly #queue: Input<Event>[] = [];
  #isRunning = false;
  #timer: Timer | undefined;
  #timerMs: number | undefined;

  /** `what`: the kind of machine, for messages. */
  constructor(clock: Clock, what: string, events: MachineDriverEvents<Event, Action>) {
    this.#clock = clock;
    this.#what = what;
    this.#events = events;
  }

  get names(): readonly string[] {
    return [...this.#machines.keys()];
  }

  add(name: string, machine: Machine<Event, Action>): void {
    this.#machines.set(name, machine);
  }

  remove(name: string): void {
    this.#machines.delete(name);
  }

  /** Passes an event to the machine of this name; without a name, to all. */
  on(event: Event, name?: string): void {
    this.#queue.push({ event, name });
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let input = this.#queue.shift(); input !== undefined; input = this.#queue.shift()) this.#handle(input);
    } finally {
      this.#isRunning = false;
      this.#setTimer();
    }
  }

  stop(): void {
    this.#machines.clear();
    this.#queue.length = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #handle({ event, name }: Input<Event>): void {
    for (const each of name === undefined ? this.names : [name]) {
      const machine = this.#machines.get(each);
      if (machine !== undefined) this.#pass(each, machine, event);
    }
  }

  #pass(name: string, machine: Machine<Event, Action>, event: Event): void {
    const nowMs = this.#clock.nowMs();
    let actions: readonly Action[];
    try {
      actions = machine.on(event, nowMs);
      if (!Array.isArray(actions)) throw new TypeError('it answered with no list of actions');
    } catch (fault) {
      return this.#onThrown(name, event, fault);
    }
    for (const action of actions) this.#events.onAction(name, action, nowMs);
  }

  #onThrown(name: string, event: Event, fault: unknown): void {
    if (event.type === 'message' && fault instanceof StciError) return this.#events.onMalformed?.(name, event, fault);
    this.#machines.delete(name);
    const text = fault instanceof Error ? fault.message : String(fault);
    const message = `${this.#what} ${name} failed and has been stopped, the session goes on without it: ${text}`;
    this.#events.onFault(name, new StciError('STCI_INTERNAL', message, { cause: fault, data: { name } }));
  }

  /** Due machines are passed `due`, and only these. */
  #onTimer(): void {
    const nowMs = this.#clock.nowMs();
    const lagMs = nowMs - (this.#timerMs as number);
    this.#timer = undefined;
    if (lagMs >= LATE_MS) this.#events.onLate?.(lagMs);
    const due = { type: 'due' } as unknown as Event;
    for (const name of this.names) if (this.#dueMs(name) <= nowMs) this.on(due, name);
    this.#setTimer();
  }

  /** Infinity: never. It may be a getter, which throws. */
  #dueMs(name: string): number {
    try {
      return this.#machines.get(name)?.dueMs ?? Infinity;
    } catch (fault) {
      this.#onThrown(name, { type: 'due' } as unknown as Event, fault);
      return Infinity;
    }
  }

  #setTimer(): void {
    let dueMs: number | undefined;
    for (const name of this.names) {
      const ownMs = this.#dueMs(name);
      if (ownMs < (dueMs ?? Infinity)) dueMs = ownMs;
    }
    if (this.#timer !== undefined && dueMs === this.#timerMs) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerMs = dueMs;
    if (dueMs === undefined) return;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.nowMs()), () => this.#onTimer());
  }
}
