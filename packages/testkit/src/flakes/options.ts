/** The command line of `npm run flakes`, and the conditions under which it runs test files. */

export const CONDITIONS = {
  idle: 'one file at a time',
  busy: 'each core has a process that computes all the time',
  shuffled: 'files in another order each time',
  node: 'another Node: that of --node, or the newest one that npm has',
  blank: 'in a clone at a path with a blank',
  root: 'in a clone in a directory at the root (root only)',
  user: "in a clone in an ordinary user's home, as that user (root only)",
} as const;

export type Condition = keyof typeof CONDITIONS;

export interface FlakesOptions {
  readonly words: readonly string[];
  readonly runs: number;
  readonly minutes: number | undefined;
  readonly under: readonly Condition[];
  readonly node: string | undefined;
  readonly jobs: number | undefined;
  /** Where results are kept, and found again; undefined: a new directory. */
  readonly out: string | undefined;
}

const MINUTES_MAX = 30 * 24 * 60;
const RUNS_MAX = 10_000;
const WIDTH = 9;

export const USAGE = `Usage: npm run flakes -- [WORD...] [--runs N] [--minutes M] [--under CONDITION,...] [--node PATH]
       [--jobs N] [--out DIRECTORY]
Runs every test file many times under different conditions, and tells each one's share of red. Exit code 1: some were.
  WORD       only test files whose path contains it, such as core or iof
  --runs     of each file under each condition (default 20)
  --minutes  start nothing after so long, and end what runs
  --under    some of these (default: all that this user can have):
${Object.entries(CONDITIONS).map(([name, text]) => `               ${name.padEnd(WIDTH)} ${text}`).join('\n')}
  --node     the executable of another Node
  --jobs     files run at a time (default: as npm test does)
  --out      where results are kept; with those of an earlier call it goes on where that ended (default: a new one)
Clones have what is committed.`;

/** Throws an Error with what was wrong, what was expected and the usage. */
export function parseFlakes(args: readonly string[], isRoot: boolean): FlakesOptions {
  const given = new Map<string, string>();
  const words: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] as string;
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    index += 1;
    const value = args[index];
    const known = ['--runs', '--minutes', '--under', '--node', '--jobs', '--out'];
    if (!known.includes(word)) throw new Error(`unknown option ${word}\n${USAGE}`);
    if (value === undefined || value.startsWith('--')) throw new Error(`${word} lacks its value\n${USAGE}`);
    if (given.has(word)) throw new Error(`${word} is given twice`);
    given.set(word, value);
  }
  const under = conditions(given.get('--under'), isRoot);
  if (given.has('--node') && !under.includes('node')) throw new Error('--node needs condition node: --under node');
  return {
    words, under, node: given.get('--node'), out: given.get('--out'),
    runs: whole('--runs', given.get('--runs'), RUNS_MAX) ?? 20,
    minutes: minutes(given.get('--minutes')),
    jobs: whole('--jobs', given.get('--jobs'), 1000),
  };
}

function whole(name: string, text: string | undefined, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= most) return number;
  throw new Error(`${name}: expected a whole number from 1 to ${most}, not ${text}`);
}

function minutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (number > 0 && number <= MINUTES_MAX) return number;
  throw new Error(`--minutes: expected a number above 0, at most ${MINUTES_MAX}, not ${text}`);
}

function conditions(text: string | undefined, isRoot: boolean): readonly Condition[] {
  const all = Object.keys(CONDITIONS) as Condition[];
  if (text === undefined) return all.filter((name) => isRoot || !needsRoot(name));
  const named = text.split(',').map((word) => {
    const found = all.find((name) => name === word);
    if (found === undefined) throw new Error(`--under: expected some of ${all.join(', ')}, not ${word}`);
    if (needsRoot(found) && !isRoot) throw new Error(`--under: ${found} needs root`);
    return found;
  });
  return [...new Set(named)];
}

function needsRoot(name: Condition): boolean {
  return name === 'root' || name === 'user';
}
