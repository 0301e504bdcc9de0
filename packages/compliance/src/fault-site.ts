/**
 * The agent of a fault's part, for the suite of faults: it carries each action out at once, or refuses it, and keeps
 * what is left. Pure, with a virtual clock.
 */

import type { FaultAction, FaultEvent, FaultMachine, FaultModule, FaultOrder, FaultPart, FaultPlace, FaultVictim }
  from '@stci/interface';
import { seededIntegers } from './seeded.js';

/** Three hosts, a chain below the controller; two ranks on each. */
export const PLACE: FaultPlace = Object.freeze({
  hosts: 3,
  isUp: (host: number) => host >= 0 && host < 3,
  hostOf: (rank: number) => (rank >= 0 && rank < 6 ? rank >> 1 : undefined),
  depth: (position: number) => position,
  parent: (position: number) => (position === 0 ? undefined : position - 1),
});

/** Of each kind, the simplest first. */
export const VICTIMS: readonly FaultVictim[] = [
  { kind: 'rank', rank: 0 },
  { kind: 'rank', rank: 5 },
  { kind: 'agent', role: 'root', host: 0 },
  { kind: 'agent', role: 'session', host: 2 },
  { kind: 'agent', role: 'controller', host: 0 },
  { kind: 'agent', role: 'front-end', host: 0 },
  { kind: 'host', host: 0 },
  { kind: 'link', ends: [0, 1] },
  { kind: 'link', ends: [2, 3] },
  { kind: 'partition', sets: [[0, 1], [2, 3]] },
];

/** What happened at one agent. */
export interface SiteRun {
  /** `injected`, `undone`, `failed`, in the order in which they were said. */
  readonly said: readonly string[];
  /** Keys of actions that were to be carried out. */
  readonly done: readonly string[];
  /** Actions that the agent cannot carry out. */
  readonly misplaced: readonly string[];
  /** In the end. */
  readonly left: readonly string[];
  /** What is wrong with its times. */
  readonly idle: string | undefined;
}

type Keyed = Exclude<FaultAction, { readonly type: 'injected' | 'undone' | 'failed' }>;

const EVERYWHERE = ['spawn', 'end', 'pause'];
const CAN: Readonly<Record<FaultPart['at']['role'], readonly string[]>> = {
  session: [...EVERYWHERE, 'signal', 'exit'],
  root: [...EVERYWHERE, 'impair', 'restore', 'close', 'kill'],
  controller: [...EVERYWHERE, 'impair', 'restore', 'close', 'kill'],
};
const STOPPING = ['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'];
/** Events of one machine, at most. */
const EVENTS_MAX = 10_000;

export class FaultSiteModel {
  readonly #machine: FaultMachine;
  readonly #order: FaultOrder;
  readonly #role: FaultPart['at']['role'];
  readonly #said: string[] = [];
  readonly #done: string[] = [];
  readonly #misplaced: string[] = [];
  readonly #left = new Set<string>();
  #isRefusing = false;
  #idle: string | undefined;
  #nowMs = 0;
  #events = 0;

  constructor(module: FaultModule, order: FaultOrder, { at, body }: FaultPart) {
    const random = seededIntegers(1);
    this.#role = at.role;
    this.#order = order;
    this.#machine = module.open({ order, body, random: () => random(0x4000_0000) / 0x4000_0000 });
  }

  /** Until it is in force. */
  inject(): SiteRun {
    this.#on({ type: 'set-up' });
    this.#on({ type: 'inject' });
    this.#wait(this.#order.timeoutMs);
    return this.#run();
  }

  /** Nothing can be carried out. */
  refused(): SiteRun {
    this.#isRefusing = true;
    return this.inject();
  }

  /** In force for its time, then undone. */
  whole(): SiteRun {
    this.inject();
    if (this.#order.durationMs !== undefined) {
      this.#wait(this.#order.durationMs);
      this.#on({ type: 'undo' });
      this.#wait(1000);
    }
    return this.#end();
  }

  /** Undone before it is injected. */
  early(): SiteRun {
    this.#on({ type: 'set-up' });
    this.#on({ type: 'undo' });
    this.#wait(1000);
    return this.#end();
  }

  #end(): SiteRun {
    this.#on({ type: 'tear-down' });
    return this.#run();
  }

  #run(): SiteRun {
    const [said, done, misplaced] = [this.#said, this.#done, this.#misplaced].map((list) => [...list]);
    return { said: said!, done: done!, misplaced: misplaced!, left: [...this.#left], idle: this.#idle };
  }

  /** Passes `due` as it asks for it. */
  #wait(forMs: number): void {
    const untilMs = this.#nowMs + forMs;
    for (let { dueMs } = this.#machine; dueMs !== undefined && dueMs <= untilMs; { dueMs } = this.#machine) {
      if (this.#idle !== undefined) break;
      this.#nowMs = Math.max(this.#nowMs, dueMs);
      this.#on({ type: 'due' });
      if (this.#machine.dueMs === dueMs) this.#idle = `dueMs is ${dueMs} before and after 'due'`;
    }
    const { dueMs } = this.#machine;
    if (dueMs !== undefined && Number.isNaN(dueMs)) this.#idle = 'dueMs is NaN';
    this.#nowMs = untilMs;
  }

  #on(event: FaultEvent): void {
    const queue: FaultEvent[] = [event];
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (++this.#events > EVENTS_MAX) {
        this.#idle = `more than ${EVENTS_MAX} events`;
        return;
      }
      for (const action of this.#machine.on(next, this.#nowMs)) {
        if (action.type === 'injected' || action.type === 'undone' || action.type === 'failed') {
          this.#said.push(action.type);
        } else {
          queue.push({ type: 'done', key: action.key, problem: this.#carryOut(action) });
        }
      }
    }
  }

  #carryOut(action: Keyed): string | undefined {
    const { type, key } = action;
    this.#done.push(key);
    const isWrong = type === 'kill' && this.#role === 'controller' && action.what !== 'self';
    if (!CAN[this.#role].includes(type) || isWrong) this.#misplaced.push(`${this.#role} cannot carry out ${type}`);
    if (this.#isRefusing) return 'the suite refuses it';
    const left = this.#left;
    if (type === 'impair') for (const peer of action.peers) left.add(`link to ${peer} impaired`);
    if (type === 'restore') for (const peer of action.peers) left.delete(`link to ${peer} impaired`);
    if (type === 'spawn') left.add(`processes of ${key}`);
    if (type === 'end') left.delete(`processes of ${key}`);
    if (type === 'signal') {
      for (const rank of action.ranks) {
        if (STOPPING.includes(action.signal)) left.add(`rank ${rank} stopped`);
        if (action.signal === 'SIGCONT' || action.signal === 'SIGKILL') left.delete(`rank ${rank} stopped`);
      }
    }
    return undefined;
  }
}
