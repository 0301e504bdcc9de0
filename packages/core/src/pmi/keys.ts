/**
 * Keys that ranks have put, as one host knows them: of its own ranks all, of others what was told. Ranks of the same
 * host see other values than ranks elsewhere, where a library wants it so. Pure.
 */

import { assert, entryOf, type JobId, type Rank } from '@stci/interface';
import {
  KEYS_OF_RANK_MAX, KEY_CHARS_MAX, RANK_BYTES_MAX, VALUE_BYTES_MAX, pairBytes, type Cancel, type Pair,
} from './contracts.js';

/** Who sees a value: ranks of the same host, or ranks elsewhere. */
export type View = 'near' | 'far';

interface RankKeys {
  /** Near, as it was last asked for; undefined: it has changed since. */
  known: readonly Pair[] | undefined;
  readonly near: Map<string, Uint8Array>;
  readonly far: Map<string, Uint8Array>;
  /** Of both. */
  bytes: number;
  hasPut: boolean;
  /** It will put nothing more. */
  isGone: boolean;
}

interface Waiting {
  readonly rank: Rank;
  isAnswered(): boolean;
}

/** Gets that wait for a rank to put. */
const WAITING_MAX = 65_536;

export class Keys {
  readonly #job: JobId;
  readonly #own = new Map<Rank, RankKeys>();
  /** Of ranks elsewhere. */
  readonly #told = new Map<JobId, Map<Rank, readonly Pair[]>>();
  readonly #byKey = new Map<string, Uint8Array>();
  readonly #waiting = new Set<Waiting>();

  constructor(job: JobId) {
    this.#job = job;
  }

  /** A process of this host's is about to be started. */
  add(rank: Rank): void {
    this.#own.set(rank, { known: undefined, near: new Map(), far: new Map(), bytes: 0, hasPut: false, isGone: false });
  }

  /** Returns why they cannot be taken. */
  put(rank: Rank, pairs: Readonly<Record<View, readonly Pair[]>>): string | undefined {
    const keys = this.#own.get(rank);
    assert(keys !== undefined, `rank ${rank} is of this host`);
    for (const view of ['near', 'far'] as const) {
      for (const pair of pairs[view]) {
        const problem = putInto(keys, view, pair);
        if (problem !== undefined) return problem;
      }
    }
    for (const [key] of pairs.near) this.#byKey.set(key, keys.near.get(key) as Uint8Array);
    keys.hasPut = true;
    keys.known = undefined;
    this.#answer(rank);
    return undefined;
  }

  far(rank: Rank): readonly Pair[] {
    return [...this.#own.get(rank)?.far ?? []];
  }

  /** What a rank elsewhere has put. */
  tell(job: JobId, rank: Rank, pairs: readonly Pair[]): void {
    entryOf(this.#told, job, () => new Map<Rank, readonly Pair[]>()).set(rank, pairs);
    if (job === this.#job) for (const [key, value] of pairs) this.#byKey.set(key, value);
  }

  /** What a rank has put, as this host sees it now: the same list until it changes; undefined: nothing is known. */
  known(rank: Rank, job = this.#job): readonly Pair[] | undefined {
    const keys = job === this.#job ? this.#own.get(rank) : undefined;
    if (keys === undefined) return this.#told.get(job)?.get(rank);
    if (keys.hasPut) keys.known ??= [...keys.near];
    return keys.known;
  }

  /** Ranks of this job of which something is known. */
  *knownRanks(): Iterable<Rank> {
    for (const [rank, { hasPut }] of this.#own) if (hasPut) yield rank;
    for (const rank of this.#told.get(this.#job)?.keys() ?? []) if (!this.#own.has(rank)) yield rank;
  }

  /** Gets that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** The value of a key, whoever of this job has put it last. */
  find(key: string): Uint8Array | undefined {
    return this.#byKey.get(key);
  }

  /**
   * Calls `done` with what a rank of this host has put, once this key, or any, is among it; undefined: it is gone, or
   * there is none.
   */
  await(
    rank: Rank, key: string | undefined, view: View, done: (pairs: readonly Pair[] | undefined) => void,
  ): Cancel | undefined {
    const keys = this.#own.get(rank);
    const isAnswered = (): boolean => {
      const isThere = keys?.hasPut === true && (key === undefined || keys[view].has(key));
      if (keys !== undefined && !isThere && !keys.isGone) return false;
      done(keys !== undefined && isThere ? [...keys[view]] : undefined);
      return true;
    };
    if (isAnswered()) return undefined;
    if (this.#waiting.size >= WAITING_MAX) return void done(undefined);
    const waiting = { rank, isAnswered };
    this.#waiting.add(waiting);
    return () => void this.#waiting.delete(waiting);
  }

  /** The rank will put nothing more. */
  giveUp(rank: Rank): void {
    const keys = this.#own.get(rank);
    if (keys !== undefined) keys.isGone = true;
    this.#answer(rank);
  }

  #answer(rank: Rank): void {
    for (const each of [...this.#waiting]) if (each.rank === rank && each.isAnswered()) this.#waiting.delete(each);
  }
}

function putInto(keys: RankKeys, view: View, pair: Pair): string | undefined {
  const [key, value] = pair;
  const into = keys[view];
  if (key.length > KEY_CHARS_MAX) return `at most ${KEY_CHARS_MAX} characters of a key`;
  if (value.length > VALUE_BYTES_MAX) return `at most ${VALUE_BYTES_MAX} bytes of a value`;
  const known = into.get(key);
  const bytes = keys.bytes + pairBytes(pair) - (known === undefined ? 0 : pairBytes([key, known]));
  if (known === undefined && into.size >= KEYS_OF_RANK_MAX) return `at most ${KEYS_OF_RANK_MAX} keys`;
  if (bytes > RANK_BYTES_MAX) return `at most ${RANK_BYTES_MAX} bytes`;
  keys.bytes = bytes;
  into.set(key, value.slice());
  return undefined;
}

export function hasKey(pairs: readonly Pair[], key: string | null | undefined): boolean {
  return key === undefined || key === null || pairs.some(([own]) => own === key);
}
