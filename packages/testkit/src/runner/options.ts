/**
 * The runner's command line: `npm test -- [words] [--grep TEXT] [--jobs N] [--timeout MS] [--file PATH]
 * [--other user,node] [--shuffle SEED] [--report PATH]`.
 * A word picks the test files whose path (`packages/core/test/iof/iof.test.ts`) contains it.
 */

import { CHANGES } from './find.js';
import type { Change } from './find.js';

export interface RunnerOptions {
  readonly words: readonly string[];
  readonly grep: string | undefined;
  /** Test files run at a time; undefined: as the machine allows. */
  readonly jobs: number | undefined;
  /** Deadline of a file that declares none. */
  readonly timeoutMs: number;
  /** Compiled files to run instead of all. */
  readonly files: readonly string[];
  /** The tests have been run, but for these: files to which none of them matters are left out. */
  readonly others: readonly Change[];
  /** Decides the order of the files; undefined: the longest first. */
  readonly shuffle: number | undefined;
  /** A file to which each test file's report is appended as it ends, one JSON a line. */
  readonly report: string | undefined;
}

export const USAGE = `Usage: npm test -- [WORD...] [--grep TEXT] [--jobs N] [--timeout MS] [--file COMPILED]
       [--other user,node] [--shuffle SEED] [--report PATH]
  WORD       only test files whose path contains it, such as core or iof
  --grep     only tests whose "suite › test" contains TEXT
  --jobs     files run at a time (default: one a core; while a core is idle as many more, or four)
  --timeout  deadline of a file in ms (default 120000; a file may say // @timeoutMs 300000 in its head)
  --file     run this compiled file, found or not (may be repeated)
  --other    for a repetition with another user or Node: without files that say // @sameFor user, node: REASON
  --shuffle  the order of the files is decided by this number
  --report   append each file's report to this file, one JSON a line`;

export const DEFAULTS: RunnerOptions = {
  words: [], grep: undefined, jobs: undefined, timeoutMs: 120_000, files: [], others: [],
  shuffle: undefined, report: undefined,
};

/** Throws with the usage for an unknown argument. */
export function parseOptions(args: readonly string[]): RunnerOptions {
  let options = DEFAULTS;
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] as string;
    if (!word.startsWith('-')) {
      options = { ...options, words: [...options.words, word] };
      continue;
    }
    index += 1;
    options = { ...options, ...option(word, args[index], options) };
  }
  return options;
}

function option(name: string, value: string | undefined, options: RunnerOptions): Partial<RunnerOptions> {
  if (value === undefined) throw new Error(`${name} is unknown or lacks its value\n${USAGE}`);
  switch (name) {
    case '--grep':
      return { grep: value };
    case '--jobs':
      return { jobs: positive(name, value) };
    case '--timeout':
      return { timeoutMs: positive(name, value) };
    case '--file':
      return { files: [...options.files, value] };
    case '--other':
      return { others: value.split(',').map((word) => change(name, word)) };
    case '--shuffle':
      return { shuffle: positive(name, value) };
    case '--report':
      return { report: value };
    default:
      throw new Error(`unknown option ${name}\n${USAGE}`);
  }
}

function positive(name: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${name} needs a whole number from 1, not ${value}`);
  return number;
}

function change(name: string, value: string): Change {
  const found = CHANGES.find((each) => each === value);
  if (found === undefined) throw new Error(`${name} needs ${CHANGES.join(' or ')}, not ${value}`);
  return found;
}
