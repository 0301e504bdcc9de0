/** What became of mutants: kept as they are judged, so that a later call can go on, and told as a table. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operator } from './points.js';

export type Verdict = 'killed' | 'timed out' | 'survived';

export interface Result {
  readonly id: string;
  readonly verdict: Verdict;
  readonly operator: Operator;
  /** In the source: file:line. */
  readonly place: string;
  readonly diff: readonly string[];
  /** Name of the probe that noticed it. */
  readonly by: string | undefined;
  readonly ms: number;
}

export class Results {
  readonly #path: string;
  readonly #all = new Map<string, Result>();

  constructor(directory: string) {
    this.#path = join(directory, 'results.jsonl');
    const lines = existsSync(this.#path) ? readFileSync(this.#path, 'utf8').split('\n').slice(0, -1) : [];
    for (const line of lines) this.#keep(JSON.parse(line) as Result);
  }

  get(id: string): Result | undefined {
    return this.#all.get(id);
  }

  add(result: Result): void {
    this.#keep(result);
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
  }

  /** Conclusion on these: survivors with their changes, and numbers by folder. */
  conclude(ids: readonly string[]): { readonly lines: string[]; readonly survived: number } {
    const all = ids.flatMap((id) => this.#all.get(id) ?? []);
    const survivors = all.filter(({ verdict }) => verdict === 'survived');
    const folders = [...new Set(all.map(folderOf))].sort();
    const rows = [...folders, undefined].map((folder) => {
      const of = folder === undefined ? all : all.filter((result) => folderOf(result) === folder);
      const count = (wanted: Verdict): number => of.filter(({ verdict }) => verdict === wanted).length;
      const share = `${Math.floor((100 * (of.length - count('survived'))) / Math.max(1, of.length))} %`;
      return [folder ?? 'all', of.length, count('killed'), count('timed out'), count('survived'), share].map(String);
    });
    const head = ['folder', 'drawn', 'killed', 'timed out', 'survived', 'noticed'];
    const table = [head, ...rows].map((row) => row.map((cell) => cell.padEnd(10)).join('  ').trimEnd());
    return { lines: ['', ...survivors.flatMap(resultLines), '', ...table], survived: survivors.length };
  }

  #keep(result: Result): void {
    this.#all.set(result.id, result);
  }
}

/** The mutant's line, and its change if nothing noticed it. */
export function resultLines({ id, verdict, operator, place, diff, by, ms }: Result): string[] {
  const noticed = by === undefined ? '' : ` by ${by}`;
  const line = `${verdict} ${place} ${operator} ${id}${noticed}, ${(ms / 1000).toFixed(1)} s`;
  return [line, ...(verdict === 'survived' ? diff.map((text) => `    ${text}`) : [])];
}

/** packages/core/src/FOLDER/file.ts:1. */
function folderOf({ place }: Result): string {
  return place.split('/').at(-2) ?? '';
}
