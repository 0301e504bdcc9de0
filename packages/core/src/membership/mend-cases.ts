/**
 * Cases of the mender, the hosts that are suspect or orphaned, and its attempts to have them linked. A case is looked
 * at when it is due, or when an event of a host may have changed what it waits for: with many cases, most events
 * concern few. Pure.
 */

import type { HostIndex, StciError } from '@stci/interface';
import { DueTimes } from '../event/due-times.js';
import type { Silence } from './mend-times.js';
import type { MembershipTable, ParentHost } from './table.js';

export type LossEvidence = 'exited' | 'closed' | 'silent';

/** The agent of `reporter` lost its link to the agent of `host`. */
export interface LossReport {
  readonly reporter: ParentHost;
  readonly host: HostIndex;
  readonly incarnation: number;
  readonly evidence: LossEvidence;
  /** For messages. */
  readonly text: string;
  /** What is told of it if it is not mended; absent: it adds nothing to what was reported before. */
  readonly news?: { readonly error: StciError; readonly wallMs: number };
}

export interface Attempt {
  readonly by: ParentHost;
  readonly host: HostIndex;
  readonly incarnation: number;
  readonly subtree: readonly HostIndex[];
}

/** A host that is suspect or orphaned. */
export interface Case {
  /** In the order in which cases are opened. */
  readonly number: number;
  readonly host: HostIndex;
  readonly incarnation: number;
  readonly cause: HostIndex;
  readonly sinceMs: number;
  evidence: string;
  report: LossReport | undefined;
  /** The parent that reported the loss, in a tuple, because the controller is undefined; undefined: inferred. */
  lostBy: readonly [ParentHost] | undefined;
  /** Its parent was given up, and its link is lost with it, even where the parent's host has another agent by now. */
  isCut: boolean;
  deadlineMs: number;
  silence: Silence;
  attempts: number;
  unreached: number;
  /** The attempt that is awaited, and until when. */
  pending: number | undefined;
  pendingUntilMs: number;
  /** Changed by `setDue`. */
  dueMs: number;
}

export class MendCases {
  readonly #table: MembershipTable;
  readonly #cases = new Map<HostIndex, Case>();
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
    table.onEvent = (host) => this.#cases.size > 0 && this.#onEvent(host);
  }

  get dueMs(): number | undefined {
    return this.#due.firstMs;
  }

  /** The case of `host`, unless the host has been restarted or taken out meanwhile. */
  get(host: HostIndex): Case | undefined {
    const found = this.#cases.get(host);
    if (found === undefined) return undefined;
    const { state, incarnation } = this.#table.get(host);
    if (found.incarnation === incarnation && (state === 'suspect' || state === 'orphaned')) return found;
    this.close(host);
    return undefined;
  }

  /** It is due at once. */
  open(begun: Pick<Case, 'host' | 'cause' | 'evidence' | 'sinceMs' | 'deadlineMs' | 'silence'>): void {
    const { host, sinceMs } = begun;
    this.#caseCount += 1;
    this.#cases.set(host, {
      ...begun, number: this.#caseCount, incarnation: this.#table.get(host).incarnation, report: undefined,
      lostBy: undefined, isCut: false, attempts: 0, unreached: 0, pending: undefined, pendingUntilMs: Infinity,
      dueMs: sinceMs,
    });
    this.#due.set(host, sinceMs);
  }

  close(host: HostIndex): void {
    this.#cases.delete(host);
    this.#due.delete(host);
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

  /** Hosts whose cases are to be looked at now, in the order in which these were opened. Some may have none. */
  takeReady(nowMs: number): HostIndex[] {
    const ready = new Set([...this.#due.take(nowMs), ...this.#changed]);
    this.#changed.clear();
    const numberOf = (host: HostIndex): number => this.#cases.get(host)?.number ?? 0;
    return [...ready].sort((a, b) => numberOf(a) - numberOf(b));
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

  /** An event of a host may connect it and those below, or cut them off. Their attempts and children depend on that. */
  #onEvent(host: HostIndex): void {
    this.#changed.add(host);
    for (const id of this.#attemptsBy.get(host) ?? []) this.#changed.add((this.#attempts.get(id) as Attempt).host);
    for (const child of this.#table.children(host)) {
      if (this.#table.get(child).state === 'up') this.#onEvent(child);
      else this.#changed.add(child);
    }
  }
}
