/** What runs of test files came to: kept as they end, so that a later call can go on, and told as a table and JSON. */

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failureLines } from '../runner/report.js';
import type { FileReport } from '../runner/run-file.js';
import type { Condition } from './options.js';

export interface Result {
  readonly condition: Condition;
  /** From 1. */
  readonly run: number;
  readonly label: string;
  readonly isRed: boolean;
  readonly ms: number;
}

export interface Share {
  readonly runs: number;
  readonly red: number;
}

const SLOWEST_SHOWN = 10;

export class Results {
  readonly directory: string;
  /** Problems that are not tests: a condition that could not be had. */
  readonly problems: string[] = [];
  #all: Result[];

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(join(directory, 'red'), { recursive: true });
    this.#all = existsSync(this.#path) ? parse(readFileSync(this.#path, 'utf8')) : [];
  }

  get #path(): string {
    return join(this.directory, 'results.jsonl');
  }

  has(condition: Condition, run: number, label: string): boolean {
    return this.#all.some((one) => one.condition === condition && one.run === run && one.label === label);
  }

  get count(): number {
    return this.#all.length;
  }

  /** `report`: undefined if the runner ended without one; then `text` says what it printed. */
  add(condition: Condition, run: number, label: string, report: FileReport | undefined, text = ''): Result {
    const lines = report === undefined ? [`The runner gave no report of it:\n${text}`] : failureLines(report);
    const result = { condition, run, label, isRed: lines.length > 0, ms: Math.round(report?.ms ?? 0) };
    if (result.isRed) {
      const name = `${label.replace(/\.test\.ts$/, '').replaceAll('/', '-')}.${condition}.${run}.txt`;
      writeFileSync(join(this.directory, 'red', name), `${lines.join('\n')}\n`);
    }
    this.#all.push(result);
    appendFileSync(this.#path, `${JSON.stringify(result)}\n`);
    return result;
  }

  /** label → condition → share. */
  shares(): Map<string, Partial<Record<Condition, Share>>> {
    const shares = new Map<string, Partial<Record<Condition, Share>>>();
    for (const { label, condition, isRed } of this.#all) {
      const of = shares.get(label) ?? {};
      const { runs = 0, red = 0 } = of[condition] ?? {};
      shares.set(label, { ...of, [condition]: { runs: runs + 1, red: red + (isRed ? 1 : 0) } });
    }
    return shares;
  }

  get isRed(): boolean {
    return this.problems.length > 0 || this.#all.some(({ isRed }) => isRed);
  }

  /** The slowest files by their median. */
  slowest(): [label: string, medianMs: number][] {
    const times = new Map<string, number[]>();
    for (const { label, ms } of this.#all) times.set(label, [...times.get(label) ?? [], ms]);
    const medians = [...times].map(([label, all]): [string, number] =>
      [label, all.sort((a, b) => a - b)[all.length >> 1] ?? 0]);
    return medians.sort((a, b) => b[1] - a[1]).slice(0, SLOWEST_SHOWN);
  }

  /** Writes report.json, and returns the table: red files alone, the reddest first. */
  conclude(under: readonly Condition[]): string[] {
    const shares = this.shares();
    const files = Object.fromEntries([...shares].sort(([a], [b]) => (a < b ? -1 : 1)));
    const report = { files, slowestMs: Object.fromEntries(this.slowest()), problems: this.problems };
    writeFileSync(join(this.directory, 'report.json'), `${JSON.stringify(report, undefined, 2)}\n`);
    const reds = (of: Partial<Record<Condition, Share>>): number =>
      Object.values(of).reduce((sum, { red }) => sum + red, 0);
    const red = [...shares].filter(([, of]) => reds(of) > 0).sort(([, a], [, b]) => reds(b) - reds(a));
    const rows = red.map(([label, of]) => [...under.map((name) => shareText(of[name])), label]);
    return [
      ...(rows.length === 0 ? [] : table([[...under, 'file'], ...rows])),
      ...this.problems.map((text) => `FAIL ${text}`),
      `slowest: ${this.slowest().map(([label, ms]) => `${label} ${(ms / 1000).toFixed(1)} s`).join(', ')}`,
      `${shares.size} files, ${this.count} runs, ${red.length} files red at least once`,
    ];
  }
}

function parse(text: string): Result[] {
  // A call that was killed may have left part of a line.
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Result);
}

function shareText(share: Share | undefined): string {
  return share === undefined ? '-' : `${share.red}/${share.runs}`;
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd());
}
