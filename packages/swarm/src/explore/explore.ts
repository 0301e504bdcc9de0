/**
 * Explores seeds, or replays one: what `npm run swarm` does, without its process. Returns the seeds that failed.
 */

import { StciError } from '@stci/interface';
import { drawFailures } from './draw-failures.js';
import { drawOptions } from './options.js';
import { runFailures } from './run-failures.js';
import { runJob, type RunOutcome } from './run-job.js';

export interface ExplorePlan {
  readonly from: number;
  /** Seeds to run; Infinity: until the time is over. */
  readonly seeds: number;
  readonly minutes: number;
  /** Instead of the drawn number of hosts. */
  readonly hosts: number | undefined;
  /** In every run, not only in some, programs agree. */
  readonly agree: boolean;
  /** Sessions whose agents fail, with detectors, instead of jobs. */
  readonly failures: boolean;
  /** Of these, few hosts and short times. */
  readonly small: boolean;
  /** Every event as a line. */
  readonly isTraced: boolean;
}

export interface ExploreIo {
  print(line: string): void;
  /** Real time, ms. */
  nowMs(): number;
}

export interface Exploration {
  readonly runs: number;
  readonly failedSeeds: readonly number[];
}

export const USAGE = `Usage: npm run swarm -- [options]
  --seed N       run this seed alone: a replay
  --from N       first seed (default 1)
  --seeds N      number of seeds (default 1000)
  --minutes M    run seeds until M minutes are over
  --hosts N      this many hosts in every run (1..1000)
  --agree        in every run programs agree with each other, not only in some
  --failures     sessions with detectors and overlays, whose agents fail, instead of jobs
  --small        with --failures: few hosts and short times, a fifth of the cost
  --trace        print every event`;

const FLAGS = ['--trace', '--agree', '--failures', '--small'];
const NUMBER_OPTIONS = ['--seed', '--from', '--seeds', '--minutes', '--hosts'];
const HOSTS_MAX = 1000;
const SEEDS_DEFAULT = 1000;
const FAILURES_MAX = 10;

function usageError(what: string): StciError {
  return new StciError('STCI_USAGE', `${what}\n${USAGE}`);
}

/** Throws STCI_USAGE. */
export function parseArguments(args: readonly string[]): ExplorePlan {
  const values = new Map<string, number>();
  const given = new Set<string>();
  for (let index = 0; index < args.length; index++) {
    const name = args[index] as string;
    if (FLAGS.includes(name)) {
      given.add(name);
      continue;
    }
    if (!NUMBER_OPTIONS.includes(name)) throw usageError(`Unknown option ${name}`);
    const text = args[++index] ?? '';
    const value = Number(text);
    const isWhole = name === '--minutes' || Number.isInteger(value);
    if (text === '' || !isWhole || !(value > 0) || !Number.isSafeInteger(Math.ceil(value))) {
      throw usageError(`${name} takes a ${name === '--minutes' ? '' : 'whole '}number above 0, got '${text}'`);
    }
    values.set(name, value);
  }
  const hosts = values.get('--hosts');
  if (hosts !== undefined && hosts > HOSTS_MAX) throw usageError(`--hosts is at most ${HOSTS_MAX}, got ${hosts}`);
  const seed = values.get('--seed');
  const minutes = values.get('--minutes') ?? Infinity;
  const seeds = values.get('--seeds') ?? (minutes === Infinity ? SEEDS_DEFAULT : Infinity);
  return {
    from: seed ?? values.get('--from') ?? 1, seeds: seed === undefined ? seeds : 1, minutes, hosts,
    agree: given.has('--agree'), failures: given.has('--failures'),
    small: given.has('--small'), isTraced: given.has('--trace'),
  };
}

/** The first seed that is explored for a commit, by its hash: each commit sees others. */
export function commitSeed(hash: string): number {
  return 1 + Number.parseInt(hash.slice(0, 7), 16);
}

export function explore(plan: ExplorePlan, io: ExploreIo): Exploration {
  const startMs = io.nowMs();
  const failedSeeds: number[] = [];
  const isReplay = plan.seeds === 1;
  io.print(isReplay ? `seed ${plan.from}` : `seeds from ${plan.from}`);
  let runs = 0;
  for (let seed = plan.from; seed < plan.from + plan.seeds; seed++) {
    if (io.nowMs() - startMs >= plan.minutes * 60_000) break;
    runs++;
    const outcome = runSeed(plan, seed, io);
    if (isReplay) io.print(outcome.summary());
    if (outcome.problems.length === 0) continue;
    failedSeeds.push(seed);
    printFailure(plan, seed, outcome, io);
    if (failedSeeds.length >= FAILURES_MAX) break;
  }
  const seconds = ((io.nowMs() - startMs) / 1000).toFixed(1);
  if (isReplay) io.print(`seed ${plan.from}: ${failedSeeds.length === 0 ? 'ok' : 'FAILED'}`);
  else {
    const last = plan.from + runs - 1;
    io.print(`seeds ${plan.from} to ${last}: ${runs} runs, ${failedSeeds.length} failed, ${seconds} s`);
  }
  return { runs, failedSeeds };
}

interface Explored extends Pick<RunOutcome, 'problems' | 'traceHash'> {
  summary(): string;
}

function runSeed({ hosts, agree, failures, small, isTraced }: ExplorePlan, seed: number, io: ExploreIo): Explored {
  const hooks = isTraced ? { onTrace: io.print } : {};
  if (failures) {
    const { run, problems } = runFailures(drawFailures(seed, small ? 'small' : 'any'), hooks);
    const { plan, traceHash } = run;
    return { problems, traceHash, summary: () => `plan ${JSON.stringify(plan)}\ntrace ${traceHash}` };
  }
  const outcome = runJob(drawOptions(seed, { hosts, ...(agree && { agree: true }) }), hooks);
  return { ...outcome, summary: () => summary(outcome) };
}

function printFailure(plan: ExplorePlan, seed: number, { problems, traceHash }: Explored, io: ExploreIo): void {
  const options = [
    ...(['agree', 'failures', 'small'] as const).flatMap((name) => (plan[name] ? [`--${name}`] : [])),
    ...(plan.hosts === undefined ? [] : [`--hosts ${plan.hosts}`]), `--seed ${seed}`,
  ];
  io.print(`FAILED seed ${seed}, trace ${traceHash}:`);
  for (const problem of problems) io.print(`  ${problem.replaceAll('\n', '\n    ')}`);
  io.print(`  replay: npm run swarm -- ${options.join(' ')} --trace`);
}

function summary({ run, traceHash }: RunOutcome): string {
  const { report } = run.record;
  const { options, world, faults } = run;
  const rows = [
    `options ${JSON.stringify(options)}`,
    ...faults.map(({ plan, timeMs, target }) => `fault at ${timeMs.toFixed(3)} ms: ${plan.kind} ${target}`),
    `exit code ${report?.exitCode ?? 'none'}${report?.cause === undefined ? '' : `: ${report.cause.message}`}`,
    `${world.scheduler.fired} events in ${world.nowMs.toFixed(1)} ms of virtual time, trace ${traceHash}`,
  ];
  return rows.join('\n');
}
