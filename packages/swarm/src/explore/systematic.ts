/**
 * Single faults at every moment of good runs, one run each. Rows of the table, configuration and kind of fault, take
 * turns, and each row's cases come in an order in which any number of first ones is spread over the whole run.
 */

import { columns } from '../worlds/text.js';
import { classOf, planCommand, printSmallest, type ExploreIo } from './finding.js';
import { FAULT_KINDS, type Case, type Configuration } from './moment-cases.js';

export interface Thinning {
  /** One in so many cases of each row. */
  readonly every: number;
  /** Of these that share, the first is 1: `[1, 1]` is all. */
  readonly part: readonly [number, number];
}

export interface SystematicPlan extends Thinning {
  /** Which one in so many. */
  readonly offset: number;
  readonly minutes: number;
  readonly shrinkMs: number;
}

interface Row {
  readonly configuration: Configuration;
  readonly fault: string;
  readonly moments: number;
  readonly cases: readonly Case[];
  readonly order: readonly number[];
  runs: number;
  red: number;
}

export interface Systematic {
  readonly runs: number;
  readonly red: number;
  /** Classes of what was found. */
  readonly classes: readonly string[];
}

/** Classes that are made simpler. */
const SHRUNK_MAX = 20;

/** Prints each class of what it finds, then the table. */
export function systematic(all: readonly Configuration[], plan: SystematicPlan, io: ExploreIo): Systematic {
  const { print, nowMs } = io;
  const untilMs = nowMs() + plan.minutes * 60_000;
  const rows = all.flatMap((configuration) => rowsOf(configuration, plan));
  const cases = rows.reduce((sum, { order }) => sum + order.length, 0);
  print(`${cases} cases${plan.minutes === Infinity ? '' : `, as many as ${plan.minutes} minutes allow`}`);
  const longest = Math.max(0, ...rows.map(({ order }) => order.length));
  const classes = new Set<string>();
  for (let turn = 0; turn < longest; turn++) {
    for (const row of rows) {
      const index = row.order[turn];
      if (index === undefined) continue;
      if (nowMs() >= untilMs) turn = longest;
      else runCase(row, row.cases[index] as Case, classes, plan.shrinkMs, io);
    }
  }
  for (const line of table(rows)) print(line);
  return { runs: sumOf(rows, 'runs'), red: sumOf(rows, 'red'), classes: [...classes] };
}

function rowsOf(configuration: Configuration, { every, offset, part: [part, parts] }: SystematicPlan): Row[] {
  const { moments, cases: found } = configuration.record();
  return FAULT_KINDS.flatMap((fault) => {
    const cases = found.get(fault) ?? [];
    if (cases.length === 0) return [];
    const chosen = [...cases.keys()].filter((index) => index % every === offset % every)
      .filter((_, at) => at % parts === part - 1);
    return [{ configuration, fault, moments, cases, order: spread(chosen, offset), runs: 0, red: 0 }];
  });
}

/** Steps of about the golden ratio, without a common divisor with the length: each once. */
function spread(values: readonly number[], offset: number): readonly number[] {
  const count = values.length;
  let step = Math.max(1, Math.round(count * 0.618));
  while (greatestDivisor(step, count) > 1) step++;
  return values.map((_, turn) => values[(offset + turn * step) % count] as number);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

function runCase(row: Row, make: Case, classes: Set<string>, shrinkMs: number, io: ExploreIo): void {
  const { configuration: { kind, name: where }, fault } = row;
  const plan = make();
  const { problems } = kind.run(plan);
  row.runs++;
  const [first] = problems;
  if (first === undefined) return;
  row.red++;
  const name = classOf(first);
  if (classes.has(name)) return;
  classes.add(name);
  io.print(`FAILED ${where}, ${fault}:`);
  for (const problem of problems) io.print(`  ${problem.replaceAll('\n', '\n    ')}`);
  io.print(`  replay: ${planCommand(kind, plan)}`);
  if (shrinkMs > 0 && classes.size <= SHRUNK_MAX) printSmallest(shrinkMs, kind, plan, name, io);
}

function table(rows: readonly Row[]): string[] {
  const cells = rows.map(({ configuration: { name }, fault, moments, cases, runs, red }) =>
    [name, fault, `${moments}`, `${cases.length}`, `${runs}`, `${red}`]);
  const all = [['configuration', 'fault', 'moments', 'cases', 'runs', 'red'], ...cells,
    ['all', '', '', `${rows.reduce((sum, { cases }) => sum + cases.length, 0)}`, `${sumOf(rows, 'runs')}`,
      `${sumOf(rows, 'red')}`]];
  return columns(all);
}

function sumOf(rows: readonly Row[], what: 'runs' | 'red'): number {
  return rows.reduce((sum, row) => sum + row[what], 0);
}
