/**
 * Cases of the mender, and its attempts to have hosts linked. A case is a column of its host's row; it is looked
 * at when it is due, or when an event of a host may have changed what it waits for: with many cases, most events
 * concern few. Pure.
 */

import type { HostIndex } from '@stci/interface';
import { DueTimes } from '../event/due-times.js';
import type { Case, ParentHost } from './member.js';
import type { MembershipTable } from './table.js';

export interface Attempt {
  readonly by: ParentHost;
  readonly host: HostIndex;
  readonly incarnation: number;
  readonly subtree: readonly HostIndex[];
}

export class MendCases {
  readonly #table: MembershipTable;
  readonly #due = new DueTimes<HostIndex>();
  /** Hosts whose cases are to be looked at, if they have any, though they are not due. */
  readonly #changed = new Set<HostIndex>();
  readonly #attempts = new Map<number, Attempt>();
  /** Numbers of attempts, by the agent that makes them. */
  readonly #attemptsBy = new Map<ParentHost, Set<number>>();
  #caseCount = 0;
  #attemptCount = 0;

  constructor(table: MembershipTable) {
    this.#table = table;
    table.onEvent = (host) => this.#onEvent(host);
  }

  get dueMs(): number | undefined {
    return this.#due.firstMs;
  }

  get(host: HostIndex): Case | undefined {
    return this.#table.get(host).mend;
  }

  /** It is due at once. */
  open(begun: Pick<Case, 'host' | 'cause' | 'evidence' | 'sinceMs' | 'deadlineMs' | 'silence'>): void {
    const { host, sinceMs } = begun;
    this.#caseCount += 1;
    const mend = {
      ...begun, number: this.#caseCount, report: undefined, lostBy: undefined, isCut: false, attempts: 0, unreached: 0,
      pending: undefined, pendingUntilMs: Infinity, dueMs: sinceMs,
    };
    this.#table.note(host, { mend });
    this.#due.set(host, sinceMs);
  }

  setDue(found: Case, dueMs: number): void {
    found.dueMs = dueMs;
    this.#due.set(found.host, dueMs);
  }

  /** No attempt is awaited any more: whether it is linked counts at once. */
  settle(found: Case): void {
    found.pending = undefined;
    this.#changed.add(found.host);
  }

  /** Those to be looked at now, in the order in which they were opened. */
  takeReady(nowMs: number): Case[] {
    const ready = new Set([...this.#due.take(nowMs), ...this.#changed]);
    this.#changed.clear();
    return [...ready].flatMap((host) => this.get(host) ?? []).sort((a, b) => a.number - b.number);
  }

  /** Returns its number. */
  addAttempt(attempt: Attempt): number {
    const { by } = attempt;
    this.#attemptCount += 1;
    this.#attempts.set(this.#attemptCount, attempt);
    this.#attemptsBy.set(by, (this.#attemptsBy.get(by) ?? new Set()).add(this.#attemptCount));
    return this.#attemptCount;
  }

  attempt(id: number): Attempt | undefined {
    return this.#attempts.get(id);
  }

  /** It has been answered. */
  removeAttempt(id: number, { by }: Attempt): void {
    this.#attempts.delete(id);
    this.#attemptsBy.get(by)?.delete(id);
  }

  /** No answer of this agent is taken any more. */
  removeAttemptsBy(host: HostIndex): void {
    for (const id of this.#attemptsBy.get(host) ?? []) this.#attempts.delete(id);
    this.#attemptsBy.delete(host);
  }

  #onEvent(host: HostIndex): void {
    if (this.get(host) === undefined) this.#due.delete(host);
    if (this.#table.count('suspect', 'orphaned') > 0) this.#onChange(host);
  }

  /** It may be connected now, with those below, or cut off. Their attempts and children depend on that. */
  #onChange(host: HostIndex): void {
    this.#changed.add(host);
    for (const id of this.#attemptsBy.get(host) ?? []) this.#changed.add((this.#attempts.get(id) as Attempt).host);
    for (const child of this.#table.children(host)) {
      if (this.#table.get(child).state === 'up') this.#onChange(child);
      else this.#changed.add(child);
    }
  }
}
