/** The command line of `npm run mutants`. */

import { parseArgs } from 'node:util';
import { OPERATORS } from './points.js';

export interface MutantsOptions {
  /** Test files run besides simulations and real processes. */
  readonly words: readonly string[];
  readonly seed: number;
  readonly count: number;
  /** Folders of packages/core/src. */
  readonly folders: readonly string[];
  /** Of simulations of each kind. */
  readonly seeds: number;
  /** Real processes, too. */
  readonly isReal: boolean;
  /** Of the tests that are run against one mutant, by what they take without it. */
  readonly limitMs: number;
  /** Only the mutants of these ids. */
  readonly only: readonly string[] | undefined;
  readonly minutes: number | undefined;
  /** Where results are kept, and found again; undefined: a new directory. */
  readonly out: string | undefined;
  /** Mutants that survived an earlier call are run again. */
  readonly isRetry: boolean;
  readonly isHelp: boolean;
}

export const FOLDERS: readonly string[] = [
  'agent', 'am', 'boot', 'controller', 'failure', 'hosts', 'injection', 'jobs', 'membership', 'node', 'overlay',
  'programs', 'service', 'sessions', 'streams', 'tools',
];
export const WORDS: readonly string[] = ['packages/core/test/', 'packages/stcirun/test/session-'];
const MINUTES_MAX = 7 * 24 * 60;
const WIDTH = 12;

export const USAGE = `Usage: npm run mutants -- [WORD...] [--seed S] [--count N] [--in FOLDER,...] [--seeds N]
       [--real] [--limit S] [--only ID,...] [--minutes M] [--out DIRECTORY] [--retry]
Changes the compiled code of packages/core in a copy of the workspace, one small change at a time, and looks whether a
test notices: those that execute the changed code, then simulations. Exit code 1: some survived.
  WORD       test files whose path contains it (default: ${WORDS.join(' and ')})
  --seed     decides which mutants are drawn (default 1)
  --count    how many (default 100)
  --in       folders of packages/core/src (default: ${FOLDERS.join(',')})
  --seeds    simulations of each kind for each mutant (default 30; 0: none)
  --real     real processes, too: a minute for each mutant that is left
  --limit    seconds of test files for each mutant, those nearest to it first, then the fastest (default 60)
  --only     those of these ids alone, of those drawn: ID,...
  --minutes  start nothing after so long, and end what runs
  --out      where results are kept; with those of an earlier call it goes on where that ended (default: a new one)
  --retry    with --out: run those again that survived
Operators:
${Object.entries(OPERATORS).map(([name, text]) => `  ${name.padEnd(WIDTH)}${text}`).join('\n')}`;

/** Throws an Error with what was wrong, what was expected and the usage. */
export function parseMutants(args: readonly string[]): MutantsOptions {
  const { values, positionals } = parse(args);
  if (values.retry === true && values.out === undefined) throw new Error(`--retry needs --out\n${USAGE}`);
  return {
    words: positionals.length > 0 ? positionals : WORDS,
    seed: number('--seed', values.seed, 0, Number.MAX_SAFE_INTEGER) ?? 1,
    count: number('--count', values.count, 1, 1_000_000) ?? 100,
    folders: values.in?.split(',') ?? FOLDERS,
    seeds: number('--seeds', values.seeds, 0, 1_000_000) ?? 30,
    limitMs: 1000 * (number('--limit', values.limit, 1, 100_000) ?? 60),
    only: values.only?.split(','),
    minutes: number('--minutes', values.minutes, 1, MINUTES_MAX),
    out: values.out,
    isReal: values.real === true,
    isRetry: values.retry === true,
    isHelp: values.help === true,
  };
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = {
    seed: text, count: text, in: text, seeds: text, limit: text, only: text, minutes: text, out: text,
    real: { type: 'boolean' }, retry: { type: 'boolean' }, help: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`);
  }
}

function number(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${name}: expected a whole number from ${least} to ${most}, not ${text}`);
}
