/**
 * Options of salloc as `--alloc` passes them on: cut into words without a shell, and checked for what would take
 * salloc's command from us. What is asked of stcirun itself (ranks, hosts) comes first, so that salloc, which takes the
 * last one, follows `--alloc`.
 */

import { splitWords } from '@stci/core';

/** Options of salloc 22.05 and 24.11 that take no value, or only in the same word. */
const ALONE: ReadonlySet<string> = new Set([
  'bell', 'no-bell', 'contiguous', 'exclusive', 'get-user-env', 'hold', 'immediate', 'kill-command', 'nice', 'no-kill',
  'overcommit', 'oversubscribe', 'quiet', 'reboot', 'spread-job', 'stepmgr', 'use-min-nodes', 'verbose', 'x11',
]);
const LETTERS_ALONE = 'HOQsv';
/** What stands behind one of these in its word is its value. */
const LETTERS_OPTIONAL = 'IKk';

/** Options that are known to take one. */
const VALUED: ReadonlySet<string> = new Set([
  'account', 'bb', 'bbf', 'begin', 'chdir', 'cluster-constraint', 'clusters', 'comment', 'constraint', 'core-spec',
  'cores-per-socket', 'cpu-freq', 'cpus-per-gpu', 'cpus-per-task', 'deadline', 'delay-boot', 'dependency',
  'distribution', 'exclude', 'extra-node-info', 'gid', 'gpu-bind', 'gpu-freq', 'gpus', 'gpus-per-node',
  'gpus-per-socket', 'gpus-per-task', 'gres', 'gres-flags', 'job-name', 'licenses', 'mail-type', 'mail-user',
  'mcs-label', 'mem', 'mem-per-cpu', 'mem-per-gpu', 'mincpus', 'nodefile', 'nodelist', 'nodes', 'ntasks',
  'ntasks-per-core', 'ntasks-per-node', 'ntasks-per-socket', 'partition', 'power', 'priority', 'profile', 'qos',
  'reservation', 'signal', 'sockets-per-node', 'switches', 'thread-spec', 'threads-per-core', 'time', 'time-min',
  'tmp', 'uid', 'wckey',
]);
const LETTERS_VALUED = 'ABCDFGJLMNSbcdmnpqtwx';

/** What salloc then does is not what it is started for. */
const REFUSED: Readonly<Record<string, string>> = {
  'no-shell': 'the allocation is to end with what uses it',
  help: "run 'salloc --help'",
  usage: "run 'salloc --usage'",
  version: "run 'salloc --version'",
};
const LETTERS_REFUSED: Readonly<Record<string, string>> = { h: 'help', V: 'version' };

export type SallocWords =
  | { readonly ok: true; readonly value: readonly string[] }
  /** A sentence without what was written. */
  | { readonly ok: false; readonly problem: string };

const bad = (problem: string): SallocWords => ({ ok: false, problem });

/** The words of one `--alloc=TEXT`. */
export function readSallocOptions(text: string): SallocWords {
  const words = splitWords(text);
  if (!words.ok) return words;
  let wantsValue = false;
  for (const word of words.value) {
    const isOption = word.startsWith('-') && word !== '-';
    if (word === '--' || (!isOption && !wantsValue && word !== ':')) {
      return bad(`has ${word}: salloc gets options only, since the program is ours to start`);
    }
    const refused = isOption ? refusedBy(word) : undefined;
    if (refused !== undefined) return bad(`has ${word}: ${refused}`);
    wantsValue = isOption && takesNext(word);
  }
  const last = words.value.at(-1) ?? '';
  return wantsValue && needsValue(last) ? bad(`has ${last}, which needs a value`) : words;
}

/** salloc would take what stands behind its options. */
function needsValue(word: string): boolean {
  return word.startsWith('--') ? VALUED.has(word.slice(2)) : LETTERS_VALUED.includes(word.at(-1) ?? '');
}

/** salloc accepts beginnings of names, too. */
function refusedBy(word: string): string | undefined {
  const [, long, letters = ''] = /^(?:--([^=]+)|-(\w+))/u.exec(word) ?? [];
  if (long !== undefined) return 'no-shell'.startsWith(long) && long.length > 3 ? REFUSED['no-shell'] : REFUSED[long];
  const letter = [...readLetters(letters).options].find((each) => LETTERS_REFUSED[each] !== undefined);
  return letter === undefined ? undefined : REFUSED[LETTERS_REFUSED[letter] ?? ''];
}

/** Options in `-Ot`; the last one may have its value in the rest of the word, or in the next one. */
function readLetters(letters: string): { readonly options: string; readonly takesNext: boolean } {
  const first = [...letters].findIndex((letter) => !LETTERS_ALONE.includes(letter));
  if (first < 0) return { options: letters, takesNext: false };
  const takesNext = first === letters.length - 1 && !LETTERS_OPTIONAL.includes(letters[first] ?? '');
  return { options: letters.slice(0, first + 1), takesNext };
}

/** An option that is not known takes a value, as most do: the word behind it is none of ours to judge. */
function takesNext(word: string): boolean {
  if (word.startsWith('--')) return !word.includes('=') && !ALONE.has(word.slice(2));
  return readLetters(word.slice(1)).takesNext;
}

/** Options of ours that name hosts, and what does the same in an allocation. */
export const HOSTS_OF_SLURM = [
  ['host', 'Slurm chooses the hosts; --alloc=--nodelist=LIST asks for these'],
  ['hostfile', 'Slurm chooses the hosts; --alloc=--nodefile=FILE asks for these'],
  ['exclude', 'Slurm chooses the hosts; --alloc=--exclude=LIST leaves some out'],
] as const;

/** What stcirun was asked for, as far as it says which allocation is needed. */
export interface AllocationWish {
  /** Of the job in Slurm's queue. */
  readonly name: string;
  readonly nodes?: number | undefined;
  readonly tasks?: number | undefined;
  readonly tasksPerNode?: number | undefined;
}

/** salloc's arguments; `variables`: of the caller, by which salloc has defaults. */
export function sallocArguments(
  given: readonly string[],
  { name, nodes, tasks, tasksPerNode }: AllocationWish,
  variables: Readonly<Record<string, string>>,
): readonly string[] {
  const isNamed = ['SALLOC_JOB_NAME', 'SLURM_JOB_NAME'].some((variable) => variables[variable] !== undefined);
  return [
    ...(isNamed ? [] : [`--job-name=${name}`]),
    ...(nodes === undefined ? [] : [`--nodes=${nodes}`]),
    ...(tasks === undefined ? [] : [`--ntasks=${tasks}`]),
    ...(tasksPerNode === undefined ? [] : [`--ntasks-per-node=${tasksPerNode}`]),
    ...given,
  ];
}

/** As a shell would be given it, for messages. */
export function sallocCommand(args: readonly string[]): string {
  const quoted = args.map((arg) => (/^[\w@%+=:,./[\]-]+$/u.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`));
  return ['salloc', ...quoted].join(' ');
}
