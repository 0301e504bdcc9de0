/**
 * What is run against a mutant, in a copy of the workspace: tests that execute its code, then simulations, then real
 * processes, for which the commands are bundled again. A first run without a mutant says how long each takes.
 */

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chosenFiles } from '../flakes/chosen.js';
import { Commands } from '../flakes/commands.js';
import type { TestFile } from '../runner/find.js';
import type { MutantsOptions } from './options.js';
import type { Mutation } from './points.js';
import type { JudgeOrder, Measured, MeasuredTest, MeasureOrder } from './run-tests.js';

/** A step that takes much longer than without a mutant hangs. */
interface Step {
  readonly name: string;
  /** Of Node, in the copy. */
  readonly args: readonly string[];
  readonly ms: number;
}

interface Case extends Omit<MeasuredTest, 'isRed' | 'reached'> {
  readonly label: string;
  readonly file: string;
  readonly index: number;
  readonly reached: ReadonlySet<number>;
  /** Files of which it executes something. */
  readonly paths: ReadonlySet<string>;
}

/** Undefined: nothing noticed it. */
export type Noticed = { readonly how: 'killed' | 'timed out'; readonly by: string } | undefined;

const SIMULATIONS = [[], ['--sessions'], ['--failures'], ['--failures', '--small']];
const BUNDLE = 'packages/stcirun/scripts/bundle.mjs';
const REAL = ['packages/stcirun/test/e2e-run.test.ts', 'packages/stcirun/test/e2e-restart.test.ts'];
const SLOWER = 4;
const GRACE_MS = 10_000;
const FIRST_MS = 1_800_000;
const RUN_TESTS = 'packages/testkit/dist/mutants/run-tests.js';

export class Probes {
  readonly #root: string;
  readonly #commands: Commands;
  readonly #out: string;
  readonly #mutations: readonly Mutation[];
  readonly #print: (line: string) => void;
  readonly #runTests: string;
  #cases: readonly Case[] = [];
  #loaded: ReadonlySet<number> = new Set();
  #steps: readonly Step[] = [];
  #limitMs = 0;

  /** `root`: of the copy; `out`: where the first runs are kept. */
  constructor(
    root: string, commands: Commands, out: string, mutations: readonly Mutation[], print: (line: string) => void,
  ) {
    [this.#root, this.#commands, this.#out, this.#mutations, this.#print] = [root, commands, out, mutations, print];
    // The copy's tests register with the copy's suites.
    const own = join(root, RUN_TESTS);
    this.#runTests = existsSync(own) ? own : fileURLToPath(new URL('./run-tests.js', import.meta.url));
  }

  /** Runs everything once. */
  async measure({ words, seeds, isReal, limitMs }: MutantsOptions): Promise<void> {
    this.#limitMs = limitMs;
    const files = chosenFiles(this.#root, words);
    const code = this.#mutations.map(({ id, start }) => `${id} ${start}`).join();
    const keyOf = ({ compiled }: TestFile): string =>
      createHash('sha256').update(code).update(readFileSync(compiled)).digest('hex');
    const kept = new Map(this.#kept<Measured & { key: string }>('tests.jsonl').map((row) => [row.key, row]));
    const missing = files.filter((file) => !kept.has(keyOf(file)));
    for (const row of await this.#measureFiles(missing)) {
      const file = files.find(({ compiled }) => compiled === row.file) as TestFile;
      const keyed = { ...row, key: keyOf(file) };
      kept.set(keyed.key, keyed);
      this.#keep('tests.jsonl', keyed);
    }
    this.#cases = files.flatMap((file) => this.#casesOf(file, kept.get(keyOf(file))));
    this.#loaded = new Set([...kept.values()].flatMap(({ loaded }) => loaded));
    this.#steps = await this.#measureSteps(seeds, isReal);
  }

  /** `mutation`: the one at this index, which the copy has. */
  async judge(index: number): Promise<Noticed> {
    const cases = this.#casesFor(index);
    if (cases.length > 0) {
      const order: JudgeOrder = { what: 'judge', tests: cases.map((one) => [one.file, one.index]) };
      const args = [this.#runTests, this.#write(order)];
      const noticed = await this.#attempt('', args, cases.reduce((sum, { ms }) => sum + ms, 0));
      if (noticed !== undefined) return noticed;
    }
    for (const { name, args, ms } of this.#steps) {
      const noticed = await this.#attempt(name, args, ms);
      if (noticed !== undefined) return noticed;
    }
    return undefined;
  }

  /** Cases that execute the code, those of its name first, then of its folder, then the fastest, to the limit. */
  #casesFor(index: number): Case[] {
    const { path } = this.#mutations[index] as Mutation;
    const folder = `/test/${basename(dirname(path))}/`;
    const near = ({ label }: Case): number =>
      label.endsWith(`${folder}${basename(path, '.js')}.test.ts`) ? 0 : label.includes(folder) ? 1 : 2;
    // What is executed as the code is loaded matters to whoever uses that file.
    const cases = this.#cases.filter(({ reached, paths }) =>
      reached.has(index) || (this.#loaded.has(index) && paths.has(path)));
    let sumMs = 0;
    return cases.sort((a, b) => near(a) - near(b) || a.ms - b.ms).filter(({ ms }) => (sumMs += ms) <= this.#limitMs);
  }

  #casesOf({ label, compiled }: TestFile, row: Measured | undefined): Case[] {
    if (row === undefined) return [];
    const red = row.tests.filter(({ isRed }) => isRed);
    for (const { name } of red) this.#print(`red without a mutant, so not used: ${label}: ${name}`);
    return row.tests.flatMap(({ name, ms, isRed, reached }, index) => {
      const paths = new Set(reached.map((at) => (this.#mutations[at] as Mutation).path));
      return isRed ? [] : [{ label, file: compiled, index, name, ms, reached: new Set(reached), paths }];
    });
  }

  async #measureFiles(files: readonly TestFile[]): Promise<Measured[]> {
    if (files.length === 0) return [];
    const places = this.#mutations.map(({ path, start }) =>
      ({ url: pathToFileURL(join(this.#root, path)).href, offset: start }));
    const to = join(this.#root, 'measured.jsonl');
    writeFileSync(to, '');
    const order: MeasureOrder = { what: 'measure', files: files.map(({ compiled }) => compiled), places, to };
    const noticed = await this.#attempt('the tests', [this.#runTests, this.#write(order)], FIRST_MS);
    const isRed = noticed !== undefined && !this.#commands.isStopped;
    if (isRed) this.#print(`${noticed.how} without a mutant: ${noticed.by}`);
    return linesOf<Measured>(to);
  }

  async #measureSteps(seeds: number, isReal: boolean): Promise<Step[]> {
    const simulations = SIMULATIONS.map((kind) => {
      const args = [...kind, '--seeds', String(seeds)];
      return { name: ['swarm', ...args].join(' '), args: ['scripts/swarm.mjs', ...args, '--shrink', '0'] };
    });
    const real = REAL.map((label) => ({ name: label, args: ['scripts/test.mjs', label] }));
    const planned = seeds > 0 ? simulations : [];
    if (isReal) planned.push({ name: 'bundle', args: [BUNDLE] }, ...real);
    const kept = new Map(this.#kept<Step>('steps.jsonl').map((step) => [step.name, step]));
    const steps: Step[] = [];
    for (const { name, args } of planned) {
      const startMs = performance.now();
      const known = kept.get(name);
      const noticed = known === undefined ? await this.#attempt(name, args, FIRST_MS) : undefined;
      if (this.#commands.isStopped) return [];
      const step = known ?? { name, args, ms: Math.round(performance.now() - startMs) };
      if (noticed !== undefined) this.#print(`red without a mutant, so not used: ${name}`);
      else steps.push(step);
      if (known === undefined && noticed === undefined) this.#keep('steps.jsonl', step);
    }
    return steps;
  }

  /** `name`: else the last line that it printed says what it runs. */
  async #attempt(name: string, args: readonly string[], ms: number): Promise<Noticed> {
    let ending: Promise<void> | undefined;
    const timer = setTimeout(() => (ending = this.#commands.end()), SLOWER * ms + GRACE_MS);
    try {
      await this.#commands.run([process.execPath, ...args], { cwd: this.#root });
      return undefined;
    } catch (error) {
      const [last] = (error as Error).message.match(/(?<=^> ).*$/gm)?.slice(-1) ?? [];
      return { how: ending === undefined ? 'killed' : 'timed out', by: name === '' ? last ?? 'its start' : name };
    } finally {
      clearTimeout(timer);
      await ending;
    }
  }

  #write(order: MeasureOrder | JudgeOrder): string {
    const path = join(this.#root, 'order.json');
    writeFileSync(path, JSON.stringify(order));
    return path;
  }

  #kept<T>(name: string): T[] {
    const path = join(this.#out, name);
    return existsSync(path) ? linesOf<T>(path) : [];
  }

  #keep(name: string, row: object): void {
    appendFileSync(join(this.#out, name), `${JSON.stringify(row)}\n`);
  }
}

function linesOf<T>(path: string): T[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as T);
}
