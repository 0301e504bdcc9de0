/**
 * Explores seeds, replays one, or looks for the moment at which one was lost: what `npm run swarm` does, without its
 * process.
 */

import { columns } from '../worlds/text.js';
import { blame } from './blame.js';
import type { BlamePlan, ExplorePlan } from './command-line.js';
import { classOf, printSmallest, type ExploreIo, type FindingClass } from './finding.js';
import type { Kind, KindRun, SeededPlan } from './kind.js';
import { configurations } from './moment-cases.js';
import { systematic, type Thinning } from './systematic.js';

export interface Exploration {
  readonly runs: number;
  readonly failedSeeds: readonly number[];
  readonly kinds: readonly KindReport[];
}

export interface KindReport {
  readonly kind: Kind;
  readonly runs: number;
  readonly minutes: number;
  readonly failedSeeds: readonly number[];
  readonly classes: readonly FindingClass[];
}

/** Of systematic single faults. */
const HOSTS_DEFAULT = 8;
/** No more classes are made simpler: so many are one cause, or a broken build. */
const SHRUNK_MAX = 20;
/** Seeds of one class that are named. */
const NAMED_MAX = 20;

/** The first seed that is explored for a commit, by its hash: each commit sees others. */
export function commitSeed(hash: string): number {
  return 1 + Number.parseInt(hash.slice(0, 7), 16);
}

export function explore(plan: ExplorePlan, io: ExploreIo): Exploration {
  const isReplay = plan.seeds === 1;
  if (plan.systematic !== undefined) return exploreMoments(plan, plan.systematic, io);
  io.print(isReplay ? `seed ${plan.from}` : `seeds from ${plan.from}`);
  if (plan.blame !== undefined) return blameSeed(plan, plan.blame, io);
  const kinds = plan.kinds.map((kind) => exploreKind(plan, kind, io));
  const failedSeeds = kinds.flatMap((each) => each.failedSeeds);
  if (isReplay) io.print(`seed ${plan.from}: ${failedSeeds.length === 0 ? 'ok' : 'FAILED'}`);
  else for (const line of table(plan, kinds)) io.print(line);
  return { runs: kinds.reduce((sum, { runs }) => sum + runs, 0), failedSeeds, kinds };
}

function planOf({ given, wishes, from }: ExplorePlan, kind: Kind, seed = from): SeededPlan {
  return given === undefined ? kind.draw(seed, wishes) : { ...kind.plain, ...given };
}

/** Goes on after a seed that fails. */
function exploreKind(plan: ExplorePlan, kind: Kind, io: ExploreIo): KindReport {
  const startMs = io.nowMs();
  const failedSeeds: number[] = [];
  const classes = new Map<string, FindingClass>();
  let runs = 0;
  for (let seed = plan.from; seed < plan.from + plan.seeds; seed++) {
    if (io.nowMs() - startMs >= plan.minutes * 60_000) break;
    runs++;
    const drawn = planOf(plan, kind, seed);
    const outcome = kind.run(drawn, plan.isTraced ? { onTrace: io.print } : {});
    if (plan.seeds === 1) for (const line of outcome.summary()) io.print(line);
    const [first] = outcome.problems;
    if (first === undefined) continue;
    failedSeeds.push(seed);
    const name = classOf(first);
    const known = classes.get(name);
    known?.seeds.push(seed);
    if (known !== undefined) {
      io.print(`FAILED seed ${seed}, as seed ${known.seeds[0]}: ${first.split('\n')[0]}`);
      continue;
    }
    classes.set(name, { name, seeds: [seed] });
    printFailure(plan, kind, seed, outcome, io);
    if (plan.shrinkMs > 0 && classes.size <= SHRUNK_MAX) printSmallest(plan.shrinkMs, kind, drawn, name, io);
  }
  const minutes = (io.nowMs() - startMs) / 60_000;
  return { kind, runs, minutes, failedSeeds, classes: [...classes.values()] };
}

function printFailure(
  { wishes, given }: ExplorePlan, kind: Kind, seed: number, { problems, traceHash }: KindRun, { print }: ExploreIo,
): void {
  print(`FAILED seed ${seed}, trace ${traceHash}:`);
  for (const problem of problems) print(`  ${problem.replaceAll('\n', '\n    ')}`);
  if (given !== undefined) return;
  const options = [
    ...(wishes.agree === true ? ['--agree'] : []), ...(wishes.mpi === true ? ['--mpi'] : []),
    ...(kind.flags === '' ? [] : [kind.flags]),
    ...(wishes.hosts === undefined ? [] : [`--hosts ${wishes.hosts}`]), `--seed ${seed}`,
  ];
  print(`  replay: npm run swarm -- ${options.join(' ')} --trace`);
}

function table({ from }: ExplorePlan, reports: readonly KindReport[]): string[] {
  const rows = reports.map(({ kind, runs, minutes, failedSeeds, classes }) => [
    kind.name, `${from} to ${from + runs - 1}`, `${runs}`, minutes.toFixed(1), `${failedSeeds.length}`,
    `${classes.length}`,
  ]);
  const all = [['kind', 'seeds', 'runs', 'minutes', 'red', 'classes'], ...rows];
  const classLines = reports.flatMap(({ kind, classes }) => classes.map(({ name, seeds }) => {
    const more = seeds.length > NAMED_MAX ? `, and ${seeds.length - NAMED_MAX} more` : '';
    return `${kind.name}: ${name}\n  ${seeds.length} red: ${seeds.slice(0, NAMED_MAX).join(', ')}${more}`;
  }));
  return [...columns(all), ...classLines];
}

function exploreMoments(
  { minutes, shrinkMs, wishes, from }: ExplorePlan, thinning: Thinning, io: ExploreIo,
): Exploration {
  const plan = { ...thinning, offset: from - 1, minutes, shrinkMs };
  const { runs, red } = systematic(configurations(wishes.hosts ?? HOSTS_DEFAULT), plan, io);
  return { runs, failedSeeds: red === 0 ? [] : [from], kinds: [] };
}

function blameSeed(plan: ExplorePlan, how: BlamePlan, io: ExploreIo): Exploration {
  const [kind] = plan.kinds as [Kind];
  const isRed = blame(kind, planOf(plan, kind), how, io.print);
  return { runs: 1, failedSeeds: isRed ? [plan.from] : [], kinds: [] };
}
