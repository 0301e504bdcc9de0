/**
 * When the injections of a fault are made: the wholes `compose` and `sequence` expanded into their parts, with all
 * times drawn. Times count from the trigger, so that they do not drift with how long an injection takes; only what must
 * wait for an end, the next part of a sequence and a whole with a cool-down, follows that injection.
 */

import type { FaultEntry, PlannedInjection, Trigger, When } from './contracts.js';
import { Draws } from './draws.js';
import { sampleMs } from './distributions.js';

/** A kind that has parts instead of a component. */
export const WHOLES = ['compose', 'sequence'] as const;

export function isWhole({ kind }: Pick<FaultEntry, 'kind'>): boolean {
  return (WHOLES as readonly string[]).includes(kind);
}

/** The faults that are injected: those of the file, with the parts in place of their wholes. */
export function leavesOf(faults: readonly FaultEntry[]): FaultEntry[] {
  return faults.flatMap((fault) => (isWhole(fault) ? leavesOf(fault.parts) : [fault]));
}

/** An injection without its victims. */
export type Timed = Omit<PlannedInjection, 'victims'> & {
  /** Planned, ms after the trigger. */
  readonly startMs: number;
  readonly endMs: number;
};

/** A moment: a time after the trigger, and what is waited for. */
interface Moment {
  readonly follows: PlannedInjection['follows'];
  /** After the trigger, or after what it follows. */
  readonly delayMs: number;
  /** After the trigger, as planned. */
  readonly startMs: number;
}

export interface TimingInit {
  readonly seed: number;
  /** Within its configuration, so that all configurations have the same times. */
  readonly number: number;
  /** Through all configurations: of the injections' names. */
  readonly repeat: number;
}

export class Timing {
  readonly #init: TimingInit;
  readonly #draws = new Map<string, Draws>();
  /** Injections made so far by name of the fault. */
  readonly #made = new Map<string, Timed[]>();

  constructor(init: TimingInit) {
    this.#init = init;
  }

  /** The injections of each leaf in the order of their numbers, with those of faults that were expanded before. */
  expand(fault: FaultEntry): ReadonlyMap<string, readonly Timed[]> {
    this.#expand(fault, { follows: undefined, delayMs: 0, startMs: 0 }, fault.when.after);
    return this.#made;
  }

  /** All injections of one entry from this moment on. */
  #expand(entry: FaultEntry, from: Moment, trigger: Trigger): Timed[] {
    const all: Timed[] = [];
    let [moment, unit]: [Moment, Timed[]] = [later(from, this.#delayMs(entry, 0)), []];
    for (let number = 0; number < entry.count; number++) {
      if (number > 0) moment = this.#next(entry, { from, moment, unit, number });
      unit = this.#unit(entry, moment, trigger);
      all.push(...unit);
    }
    return all;
  }

  /** One injection of a leaf, or one of each part of a whole. */
  #unit(entry: FaultEntry, moment: Moment, trigger: Trigger): Timed[] {
    if (!isWhole(entry)) return [this.#make(entry, moment, trigger)];
    const made: Timed[] = [];
    let at = moment;
    for (const part of entry.parts) {
      made.push(...this.#expand(part, at, trigger));
      const last = latest(made);
      if (entry.kind === 'sequence' && last !== undefined) at = after(last, 0);
    }
    return made;
  }

  #next(entry: FaultEntry, { from, moment, unit, number }: {
    from: Moment; moment: Moment; unit: readonly Timed[]; number: number;
  }): Moment {
    if (entry.when.delay.type === 'trace') return later(from, this.#delayMs(entry, number));
    const everyMs = this.#sample(entry.name, 'every', entry.when.every);
    const last = latest(unit);
    const endMs = last?.endMs ?? moment.startMs;
    const isSpaced = entry.coolDownMs > 0 || entry.kind === 'sequence';
    const startMs = Math.max(moment.startMs + everyMs, isSpaced ? endMs + entry.coolDownMs : 0);
    const waits = isSpaced && isWhole(entry) && last !== undefined;
    return waits ? after(last, startMs - endMs) : later(moment, startMs - moment.startMs);
  }

  #make(entry: FaultEntry, { follows, delayMs, startMs }: Moment, trigger: Trigger): Timed {
    const made = this.#made.get(entry.name) ?? [];
    this.#made.set(entry.name, made);
    const isCertain = follows === undefined && isStart(trigger);
    const timed: Timed = {
      id: `${this.#init.repeat}.${entry.name}.${made.length + 1}`,
      fault: entry.name, kind: entry.kind, args: entry.args, follows, trigger,
      delayMs: microseconds(delayMs), atMs: isCertain ? microseconds(delayMs) : undefined,
      durationMs: entry.durationMs, coolDownMs: entry.coolDownMs, timeoutMs: entry.timeoutMs,
      impact: entry.impact,
      startMs, endMs: startMs + (entry.durationMs ?? 0),
    };
    made.push(timed);
    return timed;
  }

  #delayMs(entry: FaultEntry, number: number): number {
    const { delay } = entry.when;
    return delay.type === 'trace' ? delay.timesMs[number] ?? 0 : this.#sample(entry.name, 'delay', delay);
  }

  #sample(name: string, purpose: 'delay' | 'every', distribution: When['every']): number {
    const key = `${purpose} ${name}`;
    const { seed, number } = this.#init;
    const draws = this.#draws.get(key) ?? new Draws([seed, number, name, purpose]);
    this.#draws.set(key, draws);
    return distribution.type === 'trace' ? 0 : sampleMs(distribution, draws);
  }
}

/** The trigger that needs no observation. */
export function isStart(trigger: Trigger): boolean {
  return trigger.on === 'event' && trigger.event === 'start';
}

function later(moment: Moment, ms: number): Moment {
  return { ...moment, delayMs: moment.delayMs + ms, startMs: moment.startMs + ms };
}

function after(injection: Timed, delayMs: number): Moment {
  return { follows: { id: injection.id, state: 'over' }, delayMs, startMs: injection.endMs + delayMs };
}

/** The one that is planned to end last. */
function latest(injections: readonly Timed[]): Timed | undefined {
  return injections.reduce<Timed | undefined>((last, one) =>
    (last === undefined || one.endMs >= last.endMs ? one : last), undefined);
}

/** Sums of times, too, are the same on each machine. */
function microseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
