/**
 * `npm run flakes`: runs test files many times under different conditions. Each round starts the runner once for each
 * condition; what a file came to is kept as it ends. Nothing that fails ends it before its time.
 */

import { accessSync, constants, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FileReport } from '../runner/run-file.js';
import { chosenFiles, outDirectory } from './chosen.js';
import { Commands } from './commands.js';
import { startLoad } from './load.js';
import { CONDITIONS, USAGE, parseFlakes } from './options.js';
import type { Condition, FlakesOptions } from './options.js';
import { Places } from './places.js';
import { Results } from './results.js';

const MINUTE_MS = 60_000;

/** Resolves to the exit code: 0 if no run was red, 1 if one was, 2 for bad input, 130 if it was interrupted. */
export async function runFlakes(root: string, args: readonly string[]): Promise<number> {
  if (args.includes('--help')) return print(USAGE), 0;
  let flakes: Flakes;
  try {
    flakes = new Flakes(root, parseFlakes(args, process.getuid?.() === 0));
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  return flakes.run();
}

class Flakes {
  readonly #options: FlakesOptions;
  readonly #labels: readonly string[];
  readonly #results: Results;
  readonly #commands = new Commands();
  readonly #places: Places;
  readonly #startMs = performance.now();

  constructor(root: string, options: FlakesOptions) {
    const { words, node, out } = options;
    if (node !== undefined) requireProgram(node);
    this.#labels = chosenFiles(root, words).map(({ label }) => label);
    this.#options = options;
    this.#results = new Results(outDirectory(out, 'stci-flakes-'));
    this.#places = new Places(root, this.#commands, node);
  }

  async run(): Promise<number> {
    this.#announce();
    let isInterrupted: boolean;
    try {
      isInterrupted = await this.#commands.during(() => this.#rounds(), this.#options.minutes);
    } finally {
      this.#places.remove();
    }
    print(...this.#results.conclude(this.#options.under), `after ${this.#elapsed()}; red runs and report.json in ${
      this.#results.directory}`);
    return this.#results.isRed ? 1 : isInterrupted ? 130 : 0;
  }

  #announce(): void {
    const { runs, minutes, under } = this.#options;
    print(
      `${this.#labels.length} test files, ${runs} runs of each under each condition${
        minutes === undefined ? '' : `, as many as ${minutes} minutes allow`}:`,
      ...under.map((name) => `  ${name}: ${CONDITIONS[name]}`),
      `results: ${this.#results.directory}${this.#results.count > 0 ? ` (it has ${this.#results.count} runs)` : ''}`,
    );
  }

  async #rounds(): Promise<void> {
    const left = new Set(this.#options.under);
    for (let run = 1; run <= this.#options.runs; run += 1) {
      for (const condition of left) {
        if (this.#commands.isStopped) return;
        const labels = this.#labels.filter((label) => !this.#results.has(condition, run, label));
        if (labels.length > 0 && !(await this.#round(condition, run, labels))) left.delete(condition);
      }
    }
  }

  /** False if the condition cannot be had. */
  async #round(condition: Condition, run: number, labels: readonly string[]): Promise<boolean> {
    let place;
    try {
      place = await this.#places.of(condition);
    } catch (error) {
      if (this.#commands.isStopped) return true;
      this.#results.problems.push(`${condition}: ${error instanceof Error ? error.message : String(error)}`);
      print(`${condition} cannot be had: ${this.#results.problems.at(-1)}`);
      return false;
    }
    const report = join(place.scratch, `report-${run}.jsonl`);
    const { jobs = condition === 'idle' ? 1 : undefined } = this.#options;
    const runner = [...place.prefix, place.node, join(place.root, 'scripts/test.mjs'), ...labels, '--report', report,
      ...(jobs === undefined ? [] : ['--jobs', String(jobs)]),
      ...(condition === 'shuffled' ? ['--shuffle', String(run)] : [])];
    const load = condition === 'busy' ? startLoad() : undefined;
    const startMs = performance.now();
    let output = '';
    try {
      output = await this.#commands.run(runner, { cwd: place.root, env: place.env, mayFail: true });
    } finally {
      await load?.end();
    }
    const red = this.#take(condition, run, labels, report, output);
    const seconds = Math.round((performance.now() - startMs) / 1000);
    print(`run ${run} of ${this.#options.runs}, ${condition}: ${seconds} s, ${red} red; ${this.#elapsed()} so far`);
    return true;
  }

  /** Keeps what the runner has reported; a file that it did not come to is red, unless the runner was stopped. */
  #take(condition: Condition, run: number, labels: readonly string[], path: string, output: string): number {
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
    rmSync(path, { force: true });
    const reports = new Map(lines.map((line) => {
      const report = JSON.parse(line) as FileReport;
      return [report.file.label, report];
    }));
    let red = 0;
    for (const label of labels) {
      const report = reports.get(label);
      if (report === undefined && this.#commands.isStopped) continue;
      const { isRed } = this.#results.add(condition, run, label, report, output);
      if (!isRed) continue;
      red += 1;
      print(`  red: ${basename(label)}, ${condition}, run ${run}`);
    }
    return red;
  }

  #elapsed(): string {
    return `${((performance.now() - this.#startMs) / MINUTE_MS).toFixed(1)} min`;
  }
}

function requireProgram(node: string): void {
  try {
    accessSync(node, constants.X_OK);
    if (statSync(node).isFile()) return;
  } catch {
    // Told below.
  }
  throw new Error(`--node: expected the path of a Node's executable, not ${node}`);
}

function print(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
