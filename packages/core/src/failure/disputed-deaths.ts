/**
 * Agents that others hold for dead, and the controller does not, or has refuted it before: a notice was late, or went
 * among agents that were cut off. Each is asked, and all are told what has been decided. So that an agent that says so
 * of everybody, again and again, does not keep the session busy, what it says waits for what it said before.
 */

import { StciError, addressName, type Address, type Clock, type MemberId, type Position } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';

/** Of one reporter, so many are asked within the time. An honest one reports once in that time. */
export const ASKED_MAX = 4;
export const ASK_MS = 100;

export interface DisputedDeathsInit {
  readonly clock: Clock;
  readonly holds: Scope;
  /** Whether there is something to decide about it. */
  isOpen(member: MemberId): boolean;
  /** The agent is given up for this reason if it does not answer. */
  ask(member: MemberId, error: StciError): void;
}

export class DisputedDeaths {
  readonly #init: DisputedDeathsInit;
  /** By reporter; it stays until none has waited for ASK_MS. */
  readonly #waiting = new Map<Address, Map<Position, MemberId>>();
  readonly #timers: Timers<Address>;

  constructor(init: DisputedDeathsInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock, init.holds);
  }

  add(reporter: Address, members: readonly MemberId[]): void {
    const open = members.filter((member) => this.#init.isOpen(member));
    if (open.length === 0) return;
    const before = this.#waiting.get(reporter);
    const waiting = before ?? new Map<Position, MemberId>();
    for (const member of open) waiting.set(member.position, member);
    this.#waiting.set(reporter, waiting);
    if (before === undefined) this.#ask(reporter, waiting);
  }

  #ask(reporter: Address, waiting: Map<Position, MemberId>): void {
    let asked = 0;
    for (const [position, member] of waiting) {
      if (asked === ASKED_MAX) break;
      waiting.delete(position);
      if (!this.#init.isOpen(member)) continue;
      asked += 1;
      this.#init.ask(member, new StciError('STCI_AGENT_LOST', `${addressName(reporter)} was told that it is dead`));
    }
    if (asked === 0) this.#waiting.delete(reporter);
    else this.#timers.set(reporter, ASK_MS, () => this.#ask(reporter, waiting));
  }
}
