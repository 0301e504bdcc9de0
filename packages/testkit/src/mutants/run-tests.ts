/**
 * A process that runs single tests of many files, one after another: without a mutant to measure each of them, with one
 * until the first is red. What it is to do is a file of JSON; it prints the test that it runs.
 */

import { appendFileSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { pathToFileURL } from 'node:url';
import { collectTestsOf, type CollectedTest } from '@stci/compliance/basics';
import { isExecuted, type Script } from './coverage.js';

export interface Place {
  readonly url: string;
  readonly offset: number;
}

export interface MeasureOrder {
  readonly what: 'measure';
  readonly files: readonly string[];
  /** Of mutants, in order. */
  readonly places: readonly Place[];
  /** Where each file's `Measured` is appended, one JSON a line. */
  readonly to: string;
}

export interface JudgeOrder {
  readonly what: 'judge';
  readonly tests: readonly (readonly [file: string, index: number])[];
}

export interface MeasuredTest {
  readonly name: string;
  readonly ms: number;
  readonly isRed: boolean;
  /** Indexes of the places that it executes. */
  readonly reached: readonly number[];
}

export interface Measured {
  readonly file: string;
  /** Executed as it is loaded, with what it imports. */
  readonly loaded: readonly number[];
  readonly tests: readonly MeasuredTest[];
}

const titleOf = ({ suite, name }: CollectedTest): string => `${suite} › ${name}`;

const load = (file: string): Promise<CollectedTest[]> => collectTestsOf(() => import(pathToFileURL(file).href));

async function measure({ files, places, to }: MeasureOrder): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const urls = new Set(places.map(({ url }) => url));
  const reached = async (): Promise<number[]> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const scripts = new Map<string, Script>(result.filter(({ url }) => urls.has(url)).map((one) => [one.url, one]));
    return [...places.keys()].filter((index) => {
      const { url, offset } = places[index] as Place;
      return isExecuted(scripts.get(url), offset);
    });
  };
  for (const file of files) {
    process.stdout.write(`> ${file}\n`);
    const all = await load(file);
    const loaded = await reached();
    const tests: MeasuredTest[] = [];
    for (const test of all) {
      const startMs = performance.now();
      const thrown = await test.run();
      const ms = Math.round(performance.now() - startMs);
      tests.push({ name: titleOf(test), ms, isRed: thrown.length > 0, reached: await reached() });
    }
    appendFileSync(to, `${JSON.stringify({ file, loaded, tests } satisfies Measured)}\n`);
  }
}

/** Ends the process at once if a test is red. */
async function judge({ tests }: JudgeOrder): Promise<void> {
  const loaded = new Map<string, CollectedTest[]>();
  for (const [file, index] of tests) {
    process.stdout.write(`> ${file}\n`);
    const all = loaded.get(file) ?? await load(file);
    loaded.set(file, all);
    const test = all[index] as CollectedTest;
    process.stdout.write(`> ${titleOf(test)}\n`);
    if ((await test.run()).length > 0) process.exit(1);
  }
}

const order = JSON.parse(readFileSync(process.argv[2] as string, 'utf8')) as MeasureOrder | JudgeOrder;
await (order.what === 'measure' ? measure(order) : judge(order));
// What a test has left open does not hold up the verdict.
process.exit(0);
