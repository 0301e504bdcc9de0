/**
 * Virtual time. Only the events of one queue happen in a world, in the order of (time, sequence number); callbacks take
 * no virtual time. A trace hash covers every event fired and every byte delivered: two runs with the same hash are the
 * same.
 */

import { EventQueue, SimEvent, type EventOwner } from './event-queue.js';

/** Kinds of events in the trace. */
export const CODE = {
  call: 1,
  timer: 2,
  turn: 3,
  packet: 4,
  space: 5,
  close: 6,
  start: 7,
  signal: 8,
  exit: 9,
  connect: 10,
  stall: 11,
} as const;

const CODE_NAMES = Object.keys(CODE);

/** Why `run` returned. `idle`: no event is left. */
export type RunOutcome = 'idle' | 'until' | 'time' | 'events';

export interface RunLimits {
  /** Virtual time at which to stop. */
  readonly untilMs?: number;
  /** Called after each event. */
  readonly until?: () => boolean;
  /** Bound on events fired; default 100 million. */
  readonly maxEvents?: number;
}

/** An error thrown by a callback: the simulated process ends as a real one would, and checkers are notified. */
export interface Fault {
  readonly timeMs: number;
  readonly owner: EventOwner | undefined;
  readonly error: unknown;
}

/** A plain callback as an event. */
export class CallEvent extends SimEvent {
  readonly code: number;
  readonly #call: () => void;

  constructor(owner: EventOwner | undefined, call: () => void, code: number = CODE.call) {
    super(owner);
    this.#call = call;
    this.code = code;
  }

  fire(): void {
    this.#call();
  }
}

const EVENTS_MAX = 100_000_000;
/** A turn of an idle event loop. */
const TURN_MS = 0.004;

export class Scheduler {
  readonly queue = new EventQueue();
  readonly faults: Fault[] = [];
  nowMs = 0;
  fired = 0;
  /** Called for each event if set, to print a trace. Does not change the run. */
  onTrace: ((line: string) => void) | undefined;
  /** Called once before the event with that number fires, the first is 1. */
  before: { readonly event: number; readonly call: () => void } | undefined;
  /** Called after each event, with the task whose it was: counts moments, and injects faults between two events. */
  onFired: ((owner: EventOwner | undefined) => void) | undefined;
  /** Called when a callback of `owner` threw an error. */
  onFault: ((fault: Fault) => void) | undefined;
  #hashA = 0x811c9dc5;
  #hashB = 0x1b873593;

  at(event: SimEvent, timeMs: number): void {
    this.queue.push(event, timeMs < this.nowMs ? this.nowMs : timeMs);
  }

  after(event: SimEvent, delayMs: number): void {
    this.queue.push(event, delayMs > 0 ? this.nowMs + delayMs : this.nowMs);
  }

  /** Runs the event in the next turn of the loop. */
  turn(event: SimEvent): void {
    this.queue.pushTurn(event, this.nowMs + TURN_MS);
  }

  call(owner: EventOwner | undefined, delayMs: number, call: () => void): SimEvent {
    const event = new CallEvent(owner, call);
    this.after(event, delayMs);
    return event;
  }

  run(limits: RunLimits = {}): RunOutcome {
    const untilMs = limits.untilMs ?? Infinity;
    const lastEvent = this.fired + (limits.maxEvents ?? EVENTS_MAX);
    for (;;) {
      const next = this.queue.peek();
      if (next === undefined) return 'idle';
      if (next.cancelled) {
        // Regardless of its time: a world is idle when only cancelled timers are left.
        this.queue.pop();
        continue;
      }
      if (next.timeMs > untilMs) {
        this.nowMs = untilMs;
        // Timers of processes that have ended are left in the queue.
        return this.queue.pending().length === 0 ? 'idle' : 'time';
      }
      if (this.fired >= lastEvent) return 'events';
      this.queue.pop();
      if (this.#fire(next) && limits.until?.() === true) return 'until';
    }
  }

  #fire(event: SimEvent): boolean {
    const owner = event.owner;
    if (owner !== undefined && !owner.alive) {
      event.orphaned();
      return false;
    }
    if (event.timeMs > this.nowMs) this.nowMs = event.timeMs;
    if (owner?.paused === true) {
      owner.hold(event);
      return false;
    }
    this.fired++;
    if (this.before?.event === this.fired) this.before.call();
    this.note(event.code, owner === undefined ? 0 : owner.id);
    if (this.onTrace !== undefined) this.#trace(event);
    try {
      event.fire();
    } catch (error) {
      const fault = { timeMs: this.nowMs, owner, error };
      this.faults.push(fault);
      this.onFault?.(fault);
    }
    this.onFired?.(owner);
    return true;
  }

  /** Mixes two numbers and the time into the trace hash. */
  note(a: number, b: number): void {
    const time = this.nowMs * 1024;
    this.#hashA = Math.imul(this.#hashA ^ (time | 0) ^ Math.imul(a, 0x9e3779b1), 0x01000193);
    this.#hashB = Math.imul(this.#hashB ^ (this.#hashA >>> 15) ^ b, 0x85ebca6b) ^ (time % 0x1000_0000);
  }

  /** Mixes bytes into the trace hash: short chunks whole, of long ones every 31st byte. */
  noteBytes(chunk: Uint8Array): void {
    const step = chunk.length <= 512 ? 1 : 31;
    let hash = chunk.length;
    for (let index = 0; index < chunk.length; index += step) {
      hash = Math.imul(hash ^ (chunk[index] as number), 0x01000193);
    }
    this.note(hash, chunk.length);
  }

  /** Writes a line of its own to the trace. */
  say(line: string): void {
    this.onTrace?.(`${this.nowMs.toFixed(3)} ${line}`);
  }

  /** Sixteen hexadecimal digits that cover the whole run. */
  get traceHash(): string {
    const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
    return hex(this.#hashA) + hex(this.#hashB);
  }

  #trace(event: SimEvent): void {
    this.say(`${CODE_NAMES[event.code - 1] ?? event.code} task ${event.owner?.id ?? '-'}`);
  }
}
