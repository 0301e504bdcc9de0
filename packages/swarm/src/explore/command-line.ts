/** The arguments of `npm run swarm`. */

import { StciError } from '@stci/interface';
import type { Wishes } from '../scenarios/options.js';
import { KINDS, type Kind } from './kind.js';
import { decode } from './plan-text.js';
import type { Thinning } from './systematic.js';

export interface ExplorePlan {
  readonly kinds: readonly Kind[];
  readonly from: number;
  /** Seeds to run, of each kind; Infinity: until the time is over. */
  readonly seeds: number;
  /** For each kind. */
  readonly minutes: number;
  readonly wishes: Wishes;
  /** Every event as a line. */
  readonly isTraced: boolean;
  /** Bound on the time in which a plan that fails is made simpler; 0: it is not. */
  readonly shrinkMs: number;
  /** Instead of what the seed draws: the values that are not plain. */
  readonly given?: object | undefined;
  /** Single faults at moments of good runs instead of seeds; `from` chooses which of those that are thinned. */
  readonly systematic?: Thinning | undefined;
  readonly blame?: BlamePlan | undefined;
}

export interface BlamePlan {
  readonly moments: number;
  readonly runs: number;
}

export const USAGE = `Usage: npm run swarm -- [options]
  --seed N       run this seed alone: a replay
  --from N       first seed (default 1)
  --seeds N      number of seeds (default 1000)
  --minutes M    run seeds until M minutes are over
  --hosts N      this many hosts in every job (1..1000)
  --agree        in every job programs agree with each other, not only in some
  --mpi          in every job there are MPI programs, not only in some
  --sessions     sessions whose front-ends come and go, instead of jobs
  --failures     sessions with detectors and overlays, whose agents fail, instead of jobs
  --small        with --failures: few hosts and short times, a fifth of the cost
  --all          each of these in turn, as many seeds and minutes of each
  --shrink S     look for the smallest plan of each new finding for at most S seconds (default 120; 0: do not)
  --plan JSON    run this plan alone, as a finding prints it
  --blame N      where was seed N lost? From moments of its run on, with other random numbers, the share of red ends;
                 with --moments K (default 10) and --runs N of each (default 20), or --plan for another than it draws
  --systematic   one run for each single fault at each moment of good runs, of 8 hosts (--hosts), until --minutes M are
                 over; --every K: one in K of them (--from 1 to K are all); --part I/N: the Ith of N shares
  --trace        print every event
  --help         print this`;

const FLAGS = ['--trace', '--agree', '--mpi', '--sessions', '--failures', '--small', '--all', '--systematic'];
const NUMBERS = [
  '--seed', '--from', '--seeds', '--minutes', '--hosts', '--shrink', '--blame', '--moments', '--runs', '--every',
];
/** These take fractions. */
const AMOUNTS = ['--minutes', '--shrink'];
/** Options that say nothing without another. */
const NEEDS = { '--every': '--systematic', '--part': '--systematic', '--moments': '--blame', '--runs': '--blame' };
/** Options that say nothing beside another. */
const EXCLUDES = {
  '--seed': ['--from', '--seeds', '--blame', '--systematic'], '--blame': ['--from', '--seeds', '--all', '--systematic'],
  '--plan': ['--from', '--seeds', '--all', '--systematic'], '--all': ['--systematic'],
  '--systematic': ['--seeds', '--sessions', '--failures', '--agree', '--mpi', '--trace'],
};
/** What it explores besides jobs are sessions that lose a host and have another. */
const SYSTEMATIC_HOSTS_MIN = 2;
const HOSTS_MAX = 1000;
const SEEDS_DEFAULT = 1000;
const SHRINK_SECONDS = 120;

function usageError(what: string): StciError {
  return new StciError('STCI_USAGE', `${what}\n${USAGE}`);
}

interface Given {
  readonly flags: ReadonlySet<string>;
  readonly numbers: ReadonlyMap<string, number>;
  readonly plan: object | undefined;
  readonly part: readonly [number, number];
}

/** Throws STCI_USAGE. */
export function parseArguments(args: readonly string[]): ExplorePlan {
  const { flags, numbers, plan, part } = read(args);
  refuseTogether(args);
  const hosts = readHosts(numbers.get('--hosts'), flags.has('--systematic') ? SYSTEMATIC_HOSTS_MIN : 1);
  const blamed = numbers.get('--blame');
  const seed = numbers.get('--seed') ?? blamed ?? (plan === undefined ? undefined : 1);
  const minutes = numbers.get('--minutes') ?? Infinity;
  const seeds = numbers.get('--seeds') ?? (minutes === Infinity ? SEEDS_DEFAULT : Infinity);
  const kinds = kindsOf(flags);
  for (const kind of plan === undefined ? [] : kinds) {
    const refusal = kind.refuse({ ...kind.plain, ...plan });
    if (refusal !== undefined) throw usageError(`--plan: ${refusal}`);
  }
  return {
    kinds, from: seed ?? numbers.get('--from') ?? 1, seeds: seed === undefined ? seeds : 1, minutes,
    wishes: { hosts, ...wishesOf(flags) }, isTraced: flags.has('--trace'),
    shrinkMs: (seed === undefined ? numbers.get('--shrink') ?? SHRINK_SECONDS : numbers.get('--shrink') ?? 0) * 1000,
    given: plan,
    ...(flags.has('--systematic') && { systematic: { every: numbers.get('--every') ?? 1, part } }),
    ...(blamed !== undefined && {
      blame: { moments: numbers.get('--moments') ?? 10, runs: numbers.get('--runs') ?? 20 },
    }),
  };
}

function wishesOf(flags: ReadonlySet<string>): Wishes {
  return { ...(flags.has('--agree') && { agree: true }), ...(flags.has('--mpi') && { mpi: true }) };
}

function read(args: readonly string[]): Given {
  const flags = new Set<string>();
  const numbers = new Map<string, number>();
  let plan: object | undefined;
  let part: Given['part'] = [1, 1];
  for (let index = 0; index < args.length; index++) {
    const name = args[index] as string;
    if (FLAGS.includes(name)) flags.add(name);
    else if (name === '--plan') plan = readPlan(args[++index] ?? '');
    else if (name === '--part') part = readPart(args[++index] ?? '');
    else if (NUMBERS.includes(name)) numbers.set(name, readNumber(name, args[++index] ?? ''));
    else throw usageError(`Unknown option ${name}`);
  }
  return { flags, numbers, plan, part };
}

function refuseTogether(args: readonly string[]): void {
  for (const [name, other] of Object.entries(NEEDS)) {
    if (args.includes(name) && !args.includes(other)) throw usageError(`${name} needs ${other}`);
  }
  for (const [name, others] of Object.entries(EXCLUDES)) {
    const other = args.includes(name) ? others.find((each) => args.includes(each)) : undefined;
    if (other !== undefined) throw usageError(`${name} and ${other} do not go together`);
  }
}

function readHosts(hosts: number | undefined, least: number): number | undefined {
  if (hosts === undefined || (hosts >= least && hosts <= HOSTS_MAX)) return hosts;
  throw usageError(hosts < least ? `--hosts is at least ${least} here, got ${hosts}`
    : `--hosts is at most ${HOSTS_MAX}, got ${hosts}`);
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  const isAmount = AMOUNTS.includes(name);
  const isBig = value > 0 || (name === '--shrink' && value === 0);
  if (text === '' || !(isAmount || Number.isInteger(value)) || !isBig || !Number.isSafeInteger(Math.ceil(value))) {
    throw usageError(`${name} takes a ${isAmount ? '' : 'whole '}number above 0, got '${text}'`);
  }
  return value;
}

function readPart(text: string): Given['part'] {
  const [, part, parts] = (/^(\d{1,6})\/(\d{1,6})$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw usageError(`--part takes I/N, with I from 1 to N, got '${text}'`);
  }
  return [part, parts];
}

function readPlan(text: string): object {
  let plan: unknown;
  try {
    plan = decode(text);
  } catch {
    // Told below.
  }
  if (typeof plan === 'object' && plan !== null && !Array.isArray(plan)) return plan;
  throw usageError(`--plan takes the JSON object that a finding prints, got '${text}'`);
}

function kindsOf(flags: ReadonlySet<string>): readonly Kind[] {
  if (flags.has('--all')) return KINDS;
  const words = ['--sessions', '--failures', '--small'].filter((flag) => flags.has(flag)).join(' ');
  const kind = KINDS.find((each) => each.flags === words);
  if (kind === undefined) throw usageError(`No kind of runs is chosen by ${words}`);
  return [kind];
}
