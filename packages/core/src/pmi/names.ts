/** Names that libraries publish for each other, of all jobs of a session; pure. */

import type { HostIndex, JobId, Rank } from '@stci/interface';
import { KEYS_OF_RANK_MAX, pairBytes, type Pair } from './contracts.js';

export interface Publisher {
  readonly job: JobId;
  readonly rank: Rank;
  /** By which a library knows the publisher. */
  readonly nspace: string;
  /** How long the name stays, as PMIx counts it. */
  readonly persistence: number;
}

/** Until it is unpublished; until the first reads it. All else ends with the publisher's job. */
export const PERSISTENCE = { indefinite: 0, firstRead: 1 } as const;

type Found = readonly (readonly [nspace: string, process: Rank, key: string, value: Uint8Array])[];

/** Who looks up: a number of its agent's. */
export interface Seeker {
  readonly job: JobId;
  readonly host: HostIndex;
  readonly number: number;
}

interface Lookup {
  readonly seeker: Seeker;
  readonly keys: readonly string[];
  readonly done: (found: Found) => void;
}

/** Names of a session. */
const NAMES_MAX = 65_536;
/** Of names and values, all together. */
const BYTES_MAX = 16 * 0x10_0000;
/** Lookups of a job that wait. */
const LOOKUPS_MAX = 4096;

export class Names {
  readonly #names = new Map<string, Publisher & { readonly value: Uint8Array }>();
  #lookups: Lookup[] = [];
  #bytes = 0;

  /** Returns the keys that are taken, or for which there is no room. */
  publish(publisher: Publisher, pairs: readonly Pair[]): string[] {
    const taken: string[] = [];
    for (const [key, value] of pairs.slice(0, KEYS_OF_RANK_MAX)) {
      const bytes = this.#bytes + pairBytes([key, value]);
      if (this.#names.has(key) || this.#names.size >= NAMES_MAX || bytes > BYTES_MAX) taken.push(key);
      else {
        this.#bytes = bytes;
        this.#names.set(key, { ...publisher, value: value.slice() });
      }
    }
    const waiting = this.#lookups;
    this.#lookups = [];
    for (const each of waiting) if (!this.#answer(each)) this.#lookups.push(each);
    return taken;
  }

  /** Those of this job; returns the keys that it has not published. */
  unpublish(job: JobId, keys: readonly string[]): string[] {
    return keys.filter((key) => this.#names.get(key)?.job !== job || !this.#delete(key));
  }

  /** Calls `done` with what there is of these keys; `waits`: once there are all. */
  lookup(seeker: Seeker, keys: readonly string[], waits: boolean, done: Lookup['done']): void {
    const lookup = { seeker, keys, done };
    const isFull = (): boolean => this.#lookups.filter((each) => each.seeker.job === seeker.job).length >= LOOKUPS_MAX;
    if (!waits || isFull()) done(this.#read(keys));
    else if (!this.#answer(lookup)) this.#lookups.push(lookup);
  }

  /** Those of this host that wait, or one of them, find nothing. */
  forget({ job, host, number }: Omit<Seeker, 'number'> & { readonly number?: number }): void {
    const isIt = ({ seeker }: Lookup): boolean =>
      seeker.job === job && seeker.host === host && (number === undefined || seeker.number === number);
    const forgotten = this.#lookups.filter(isIt);
    this.#lookups = this.#lookups.filter((each) => !isIt(each));
    for (const { done } of forgotten) done([]);
  }

  onJobEnded(job: JobId): void {
    this.#lookups = this.#lookups.filter(({ seeker }) => seeker.job !== job);
    for (const [key, name] of this.#names) {
      if (name.job === job && name.persistence !== PERSISTENCE.indefinite) this.#delete(key);
    }
  }

  #delete(key: string): boolean {
    const name = this.#names.get(key);
    if (name !== undefined) this.#bytes -= pairBytes([key, name.value]);
    return this.#names.delete(key);
  }

  #answer({ keys, done }: Lookup): boolean {
    if (!keys.every((key) => this.#names.has(key))) return false;
    done(this.#read(keys));
    return true;
  }

  #read(keys: readonly string[]): Found {
    return [...new Set(keys)].flatMap((key) => {
      const found = this.#names.get(key);
      if (found === undefined) return [];
      if (found.persistence === PERSISTENCE.firstRead) this.#delete(key);
      return [[found.nspace, found.rank, key, found.value] as const];
    });
  }
}
