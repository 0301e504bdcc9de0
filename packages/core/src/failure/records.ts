/**
 * Records of failures, at the controller: what is known of each is gathered for a while, because the last survivors
 * learn of it later, hosts are linked to others, and the error manager decides. Then the record is complete, and told.
 * Pure.
 */

import {
  bootPosition, failureId, type Address, type Evidence, type FailedSubject, type FailureId, type FailureRecord,
  type JobId, type Rank,
} from '@stci/interface';
import { Once } from '../event/once.js';
import { memberName } from './notice.js';

/** A record is told so long after its first report at the latest. */
export const RECORD_MS = 1000;

/** Failures whose records have been told: late reports of them make no other. */
const TOLD_MAX = 4096;

/** Records that are gathered at a time; beyond, the oldest are told as they are. Held ones, one a host, go on. */
const OPEN_MAX = 1024;

interface OpenRecord {
  dueMs: number;
  /** It is not decided yet whether it is one. */
  isHeld: boolean;
  readonly hostName: string;
  reporter: string;
  /** Whoever found it has not told yet. */
  isProvisional: boolean;
  notice: Evidence;
  readonly confirmers: Set<string>;
  /** Agents that have said that they were told. */
  readonly notified: Set<Address>;
  notifiedWallMs: number | undefined;
  readonly lostRanks: Map<JobId, Rank[]>;
  readonly newParents: Map<string, string>;
  readonly policy: Set<string>;
}

export class FailureRecords {
  readonly #open = new Map<FailureId, OpenRecord>();
  readonly #told = new Once<FailureId>(TOLD_MAX);

  get dueMs(): number | undefined {
    for (const { isHeld, dueMs } of this.#open.values()) if (!isHeld) return dueMs;
    return undefined;
  }

  /** A report; those after the first add to its record. The first that is not provisional replaces one that is. */
  add(notice: Evidence, hostName: string, nowMs: number, isProvisional = false): void {
    const id = failureId(notice.subject);
    const reporter = memberName(notice.reporter);
    if (this.#told.has(id)) return;
    const open = this.#open.get(id);
    if (open?.isProvisional === true && !isProvisional) {
      Object.assign(open, { notice, reporter, isProvisional });
      return;
    }
    if (open !== undefined) {
      if (reporter !== open.reporter) open.confirmers.add(reporter);
      const { failedWallMs } = notice;
      if (open.notice.failedWallMs === undefined && failedWallMs !== undefined) {
        open.notice = { ...open.notice, failedWallMs };
      }
      return;
    }
    this.#open.set(id, {
      dueMs: nowMs + RECORD_MS, isHeld: false, isProvisional, hostName, reporter, notice,
      confirmers: new Set(), notified: new Set(), notifiedWallMs: undefined, lostRanks: new Map(),
      newParents: new Map(), policy: new Set(),
    });
  }

  /** It is being gathered. */
  has(subject: FailedSubject): boolean {
    return this.#open.has(failureId(subject));
  }

  /** An agent was told. It counts once, however often it says so. */
  seen(id: FailureId, agent: Address, wallMs: number): void {
    const open = this.#open.get(id);
    if (open === undefined || open.notified.has(agent)) return;
    open.notified.add(agent);
    open.notifiedWallMs = Math.max(open.notifiedWallMs ?? 0, wallMs);
  }

  /** Of one of those that `isMeant` accepts, not all of so many agents have said that they were told. */
  isAwaited(isMeant: (subject: FailedSubject) => boolean, agents: number): boolean {
    const open = [...this.#open.values()];
    return open.some(({ isHeld, notified, notice }) => !isHeld && notified.size < agents && isMeant(notice.subject));
  }

  /** A job that is told of the failure, and its ranks that were lost: none, if they had ended. */
  lost(id: FailureId, job: JobId, ranks: readonly Rank[]): void {
    const lost = this.#open.get(id)?.lostRanks;
    lost?.set(job, [...new Set([...(lost.get(job) ?? []), ...ranks])].sort((a, b) => a - b));
  }

  /** Hosts were linked to another: because of every host that is recorded now. */
  linked(host: string, parent: string): void {
    for (const { notice, newParents } of this.#open.values()) {
      if (notice.subject.kind === 'host') newParents.set(host, parent);
    }
  }

  decided(id: FailureId, decision: string): void {
    this.#open.get(id)?.policy.add(decision);
  }

  /** It is not told before it is decided. */
  hold(subject: FailedSubject): void {
    const open = this.#open.get(failureId(subject));
    if (open !== undefined) open.isHeld = true;
  }

  /** It is decided: what follows is gathered from now on. */
  release(subject: FailedSubject, nowMs: number): void {
    const id = failureId(subject);
    const open = this.#open.get(id);
    if (open === undefined || !open.isHeld) return;
    // At the end: those that are due first come first.
    this.#open.delete(id);
    this.#open.set(id, Object.assign(open, { isHeld: false, dueMs: nowMs + RECORD_MS }));
  }

  withdraw(subject: FailedSubject): void {
    this.#open.delete(failureId(subject));
  }

  /** Those that are due; with `isDue`, those that it accepts as well. */
  take(nowMs: number, isDue: (subject: FailedSubject) => boolean = () => false): FailureRecord[] {
    const taken: FailureRecord[] = [];
    let gathered = [...this.#open.values()].filter(({ isHeld }) => !isHeld).length;
    for (const [id, open] of this.#open) {
      const isDueNow = open.dueMs <= nowMs || isDue(open.notice.subject);
      if (open.isHeld || (!isDueNow && gathered <= OPEN_MAX)) continue;
      gathered -= 1;
      this.#open.delete(id);
      this.#told.add(id);
      taken.push(recordOf(open));
    }
    return taken;
  }
}

function recordOf(open: OpenRecord): FailureRecord {
  const { hostName, reporter, confirmers, notified, notifiedWallMs, lostRanks, newParents, policy } = open;
  const { reporter: _reporter, ...found } = open.notice;
  const { failedWallMs, heardWallMs, confirmedWallMs } = found;
  const since = (wallMs: number): number => Math.max(0, confirmedWallMs - wallMs);
  // Its own host took the time of the failure: another's clock says nothing of how long ago that was.
  const isSameClock = open.notice.reporter.position === bootPosition(found.subject.host);
  return {
    failure: failureId(found.subject), ...found,
    hostName, reporter, confirmers: [...confirmers], notified: notified.size,
    ...(notifiedWallMs !== undefined && { notifiedWallMs }),
    lostRanks: [...lostRanks].map(([job, ranks]) => ({ job, ranks })),
    newParents: [...newParents].map(([host, parent]) => ({ host, parent })),
    policy: [...policy],
    ...(failedWallMs !== undefined && isSameClock && { achievedMs: since(failedWallMs) }),
    ...(failedWallMs === undefined && heardWallMs !== undefined && { achievedMaxMs: since(heardWallMs) }),
  };
}
