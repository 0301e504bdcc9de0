/**
 * Failure table: what an agent knows of failures, one entry for each subject, whoever reports it and however often.
 * Pure. The oldest entries are forgotten: a session that stays has any number of failures.
 */

import { failureId, type Evidence, type FailedSubject, type FailureId, type MemberId } from '@stci/interface';

/** Entries that are kept. */
const ENTRIES_MAX = 4096;

/** Further reporters of one failure that are named. */
const CONFIRMERS_MAX = 64;

export interface FailureEntry {
  /** As it was reported first. */
  readonly notice: Evidence;
  /** Who else reported it. */
  readonly confirmers: readonly MemberId[];
}

/** `known`: nothing new is said. */
export type FailureChange = 'new' | 'confirmed' | 'known';

export class FailureTable {
  readonly #entries = new Map<FailureId, FailureEntry>();
  readonly #entriesMax: number;

  constructor(entriesMax = ENTRIES_MAX) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(subject: FailedSubject): FailureEntry | undefined {
    return this.#entries.get(failureId(subject));
  }

  take(notice: Evidence): FailureChange {
    const id = failureId(notice.subject);
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      this.#entries.set(id, { notice, confirmers: [] });
      if (this.#entries.size > this.#entriesMax) this.#entries.delete(this.#entries.keys().next().value as FailureId);
      return 'new';
    }
    const { confirmers } = entry;
    const isKnown = [entry.notice.reporter, ...confirmers].some((one) => isSame(one, notice.reporter));
    if (isKnown || confirmers.length >= CONFIRMERS_MAX) return 'known';
    this.#entries.set(id, { notice: merged(entry.notice, notice), confirmers: [...confirmers, notice.reporter] });
    return 'confirmed';
  }

  /** It has not failed after all. */
  withdraw(subject: FailedSubject): boolean {
    return this.#entries.delete(failureId(subject));
  }
}

/** The first report, with what only a later one knows: when it failed. */
function merged(first: Evidence, later: Evidence): Evidence {
  const { failedWallMs } = later;
  return first.failedWallMs === undefined && failedWallMs !== undefined ? { ...first, failedWallMs } : first;
}

function isSame(a: MemberId, b: MemberId): boolean {
  return a.position === b.position && a.incarnation === b.incarnation;
}
