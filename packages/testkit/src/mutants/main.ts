/**
 * `npm run mutants`: changes the compiled code of core in small ways, one at a time, and looks whether a test notices.
 * It works in a copy of the workspace, so that nothing changed is left in it, however this ends.
 */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { chosenFiles, outDirectory } from '../flakes/chosen.js';
import { Commands } from '../flakes/commands.js';
import { describe, draw, findMutations, mutated } from './draw.js';
import { parseMutants, USAGE } from './options.js';
import type { MutantsOptions } from './options.js';
import type { Mutation } from './points.js';
import { Probes } from './probes.js';
import { resultLines, Results } from './results.js';
import type { Result } from './results.js';

/** Resolves to the exit code: 0 if none survived, 1 if some did, 2 for bad input, 130 if it was interrupted. */
export async function runMutants(root: string, args: readonly string[]): Promise<number> {
  let mutants: Mutants;
  try {
    const options = parseMutants(args);
    if (options.isHelp) return print(USAGE), 0;
    mutants = new Mutants(root, options);
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  return mutants.run();
}

class Mutants {
  readonly #root: string;
  readonly #options: MutantsOptions;
  readonly #all: readonly Mutation[];
  readonly #drawn: readonly Mutation[];
  readonly #out: string;
  readonly #results: Results;
  readonly #commands = new Commands();
  #copy = '';

  constructor(root: string, options: MutantsOptions) {
    [this.#root, this.#options] = [root, options];
    this.#all = findMutations(root, options.folders);
    const drawn = draw(this.#all, options.seed, options.count);
    this.#drawn = drawn.filter(({ id }) => options.only?.includes(id) !== false);
    const { out, only = [] } = options;
    if (this.#drawn.length === 0) throw new Error(`--only: ${only.join()} is not among the ${drawn.length} drawn`);
    chosenFiles(root, options.words);
    this.#out = outDirectory(out, 'stci-mutants-');
    this.#results = new Results(this.#out);
  }

  async run(): Promise<number> {
    print(`${this.#drawn.length} of ${this.#all.length} mutants, seed ${this.#options.seed}`, `results: ${this.#out}`);
    const scratch = mkdtempSync(join(tmpdir(), 'stci-mutants-copy-'));
    let isInterrupted: boolean;
    try {
      isInterrupted = await this.#commands.during(async () => {
        this.#copy = join(scratch, basename(this.#root));
        copyWorkspace(this.#root, this.#copy);
        await this.#judgeAll();
      }, this.#options.minutes);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
    const { lines, survived } = this.#results.conclude(this.#drawn.map(({ id }) => id));
    print(...lines);
    return isInterrupted ? 130 : survived > 0 ? 1 : 0;
  }

  async #judgeAll(): Promise<void> {
    const { isRetry, only } = this.#options;
    const left = this.#drawn.filter(({ id }) => {
      const verdict = this.#results.get(id)?.verdict;
      return verdict === undefined || only !== undefined || (isRetry && verdict === 'survived');
    });
    if (left.length === 0) return;
    const probes = new Probes(this.#copy, this.#commands, this.#out, this.#all, print);
    await probes.measure(this.#options);
    for (const [index, mutation] of left.entries()) {
      const result = await this.#judge(mutation, probes);
      if (result === undefined) return;
      this.#results.add(result);
      print(...resultLines(result).map((line, i) => (i === 0 ? `${index + 1}/${left.length} ${line}` : line)));
    }
  }

  /** Undefined if it was stopped. */
  async #judge(mutation: Mutation, probes: Probes): Promise<Result | undefined> {
    const startMs = performance.now();
    const path = join(this.#copy, mutation.path);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(text, mutation));
    const noticed = await probes.judge(this.#all.indexOf(mutation));
    writeFileSync(path, text);
    if (this.#commands.isStopped) return undefined;
    const { id, operator } = mutation;
    const { how: verdict = 'survived', by = undefined } = noticed ?? {};
    return { id, verdict, operator, ...describe(this.#root, mutation), by, ms: performance.now() - startMs };
  }
}

/** Copies the workspace with links as they are: those between packages are relative. */
function copyWorkspace(from: string, to: string): void {
  const isCopied = (path: string): boolean => relative(from, path) !== '.git';
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: isCopied });
}

function print(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}
