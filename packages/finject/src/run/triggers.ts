/** The moments for which injections wait: counts events, lines of output and marks. Pure. */

import type { FailureId, FaultVictim, HostIndex, JobEvent, Rank } from '@stci/interface';
import type { Trigger, TRIGGER_EVENTS } from '../experiment/contracts.js';
import { unlimited, type Within } from '../judge/within.js';
import { LineSplitter } from './lines.js';

type TriggerEvent = (typeof TRIGGER_EVENTS)[number];

interface Waiting {
  readonly trigger: Trigger;
  readonly pattern: RegExp | undefined;
  count: number;
  /** Failures that it has counted. */
  readonly counted: Set<FailureId>;
}

/** A rank or a host that an event concerns. */
interface Concern {
  readonly rank?: Rank | undefined;
  readonly host?: HostIndex | undefined;
  /** Its news and its record are one event. */
  readonly failure?: FailureId | undefined;
}

/** How long a pattern may take for a chunk of output. */
const PATTERN_MS = 500;

export interface TriggersInit {
  /** Called once for each trigger, by its key. */
  onFired(key: string): void;
  readonly within?: Within | undefined;
  /** The pattern takes forever: its trigger will not fire. */
  onLate?(pattern: string): void;
}

/** The same trigger, whichever injection has it. */
export function triggerKey(trigger: Trigger): string {
  return JSON.stringify(trigger);
}

export class Triggers {
  readonly #waiting = new Map<string, Waiting>();
  readonly #init: TriggersInit;
  readonly #lines = new LineSplitter();
  /** Victims of injections that were made, by fault. */
  readonly #victims = new Map<string, FaultVictim[]>();

  constructor(triggers: readonly Trigger[], init: TriggersInit) {
    this.#init = init;
    for (const trigger of triggers) {
      const pattern = trigger.on === 'output' ? new RegExp(trigger.pattern) : undefined;
      this.#waiting.set(triggerKey(trigger), { trigger, pattern, count: 0, counted: new Set() });
    }
  }

  onEvent(event: TriggerEvent, concern: Concern = {}): void {
    const { failure } = concern;
    this.#match(({ trigger, counted }) => {
      if (trigger.on !== 'event' || trigger.event !== event || !this.#concerns(trigger.fault, concern)) return false;
      const isKnown = failure !== undefined && counted.has(failure);
      if (failure !== undefined) counted.add(failure);
      return !isKnown;
    });
  }

  /** An injection of this fault has hit this victim. */
  onInjected(fault: string, victim: FaultVictim): void {
    const victims = this.#victims.get(fault);
    if (victims === undefined) this.#victims.set(fault, [victim]);
    else victims.push(victim);
    this.#match(({ trigger }) => trigger.on === 'event' && trigger.event === 'injection'
      && (trigger.fault === undefined || trigger.fault === fault));
  }

  onJobEvent(event: JobEvent): void {
    switch (event.type) {
      case 'failure':
        return this.onEvent('detection', { rank: event.error.rank, failure: event.error.failure });
      case 'failure-record': {
        const { failure, subject } = event.record;
        const where = subject.kind === 'tool' ? { rank: subject.rank } : { host: subject.host };
        return this.onEvent('detection', { ...where, failure });
      }
      case 'member':
        if (event.change === 'suspected') this.onEvent('suspicion', { host: event.host });
        if (event.change === 'linked') this.onEvent('recovery', { host: event.host });
        return;
      case 'recovery':
        return this.onEvent('recovery', { host: event.host });
      case 'restarting':
        return this.onEvent('recovery', { rank: event.report.rank });
      case 'exited':
        return this.onEvent('exit', { rank: event.report.rank });
      case 'mark':
        return this.#match(({ trigger }) => trigger.on === 'mark' && trigger.name === event.name
          && (trigger.rank === undefined || trigger.rank === event.rank));
    }
  }

  /** A chunk of output, decoded; undefined: its end. */
  onOutput(rank: Rank, stream: 'stdout' | 'stderr', text: string | undefined): void {
    const source = `${rank} ${stream}`;
    const lines = text === undefined ? this.#lines.end(source) : this.#lines.push(source, text);
    const found = this.#found(rank, lines);
    for (const index of lines.keys()) this.#match((waiting) => found.get(waiting)?.[index] === true);
  }

  /** Which lines match, of each trigger that looks at this rank's. */
  #found(rank: Rank, lines: readonly string[]): ReadonlyMap<Waiting, readonly boolean[]> {
    const found = new Map<Waiting, readonly boolean[]>();
    const { within = unlimited, onLate } = this.#init;
    for (const [key, waiting] of lines.length === 0 ? [] : [...this.#waiting]) {
      const { trigger, pattern } = waiting;
      if (trigger.on !== 'output' || (trigger.rank ?? rank) !== rank || pattern === undefined) continue;
      const matches = matchesOf(pattern, lines, within);
      if (matches !== undefined) {
        found.set(waiting, matches);
        continue;
      }
      this.#waiting.delete(key);
      onLate?.(trigger.pattern);
    }
    return found;
  }

  #match(isMatch: (waiting: Waiting) => boolean): void {
    for (const [key, waiting] of [...this.#waiting]) {
      if (!isMatch(waiting)) continue;
      waiting.count += 1;
      if (waiting.count < waiting.trigger.nth) continue;
      this.#waiting.delete(key);
      this.#init.onFired(key);
    }
  }

  /** Whether an event belongs to a fault: it is of one of its victims. */
  #concerns(fault: string | undefined, { rank, host }: Concern): boolean {
    if (fault === undefined) return true;
    return this.#victims.get(fault)?.some((victim) => {
      switch (victim.kind) {
        case 'rank':
          return victim.rank === rank;
        case 'host':
        case 'agent':
          return victim.host === host;
        case 'link':
          return host !== undefined && victim.ends.includes(host + 1);
        case 'partition':
          return true;
      }
    }) ?? false;
  }
}

/** Undefined: it takes too long, or is more than the engine can carry out, which it says only now. */
function matchesOf(pattern: RegExp, lines: readonly string[], within: Within): readonly boolean[] | undefined {
  try {
    return within(PATTERN_MS, () => lines.map((line) => pattern.test(line)));
  } catch {
    return undefined;
  }
}
