/** The injections of a repeat in time: which is due, and when. Pure: told what happens, asked what is to be done. */

import type { PlannedInjection } from '../experiment/contracts.js';
import { triggerKey } from './triggers.js';

interface Item {
  readonly injection: PlannedInjection;
  /** Of the same fault, before it. */
  readonly previous: Item | undefined;
  /** When its delay began. */
  baseMs: number | undefined;
  injectedMs: number | undefined;
  overMs: number | undefined;
  isTaken: boolean;
}

export class Schedule {
  readonly #items: readonly Item[];
  readonly #byId: ReadonlyMap<string, Item>;

  constructor(injections: readonly PlannedInjection[]) {
    const last = new Map<string, Item>();
    this.#items = injections.map((injection) => {
      const previous = last.get(injection.fault);
      const item: Item =
        { injection, previous, baseMs: undefined, injectedMs: undefined, overMs: undefined, isTaken: false };
      last.set(injection.fault, item);
      return item;
    });
    this.#byId = new Map(this.#items.map((item) => [item.injection.id, item]));
  }

  /** The trigger of this key has fired. */
  fire(key: string, nowMs: number): void {
    for (const item of this.#items) {
      const { follows, trigger } = item.injection;
      if (follows === undefined && triggerKey(trigger) === key) item.baseMs ??= nowMs;
    }
  }

  onInjected(id: string, nowMs: number): void {
    this.#mark(id, 'injected', nowMs);
  }

  /** The fault is undone, has failed, or there was nothing to undo. What waits for its injection waits no longer. */
  onOver(id: string, nowMs: number): void {
    this.#mark(id, 'injected', nowMs);
    this.#mark(id, 'over', nowMs);
  }

  /** When the next is due; undefined: not before something happens. */
  get nextMs(): number | undefined {
    let next: number | undefined;
    for (const item of this.#items) {
      const dueMs = item.isTaken ? undefined : dueOf(item);
      if (dueMs !== undefined && (next === undefined || dueMs < next)) next = dueMs;
    }
    return next;
  }

  /** Injections that are due now, in order. */
  take(nowMs: number): readonly PlannedInjection[] {
    const due = this.#items.filter((item) => !item.isTaken && (dueOf(item) ?? Infinity) <= nowMs);
    for (const item of due) item.isTaken = true;
    return due.sort((a, b) => (dueOf(a) ?? 0) - (dueOf(b) ?? 0)).map(({ injection }) => injection);
  }

  /** Injections whose moment has not come. */
  rest(): readonly PlannedInjection[] {
    return this.#items.filter(({ isTaken }) => !isTaken).map(({ injection }) => injection);
  }

  #mark(id: string, state: 'injected' | 'over', nowMs: number): void {
    const item = this.#byId.get(id);
    const field = state === 'over' ? 'overMs' : 'injectedMs';
    if (item === undefined || item[field] !== undefined) return;
    item[field] = nowMs;
    for (const other of this.#items) {
      const { follows } = other.injection;
      if (follows?.id === id && follows.state === state) other.baseMs ??= nowMs;
    }
  }
}

function dueOf({ injection, previous, baseMs }: Item): number | undefined {
  if (baseMs === undefined) return undefined;
  const dueMs = baseMs + injection.delayMs;
  if (injection.coolDownMs === 0 || previous === undefined) return dueMs;
  return previous.overMs === undefined ? undefined : Math.max(dueMs, previous.overMs + injection.coolDownMs);
}
