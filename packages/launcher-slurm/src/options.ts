/**
 * The user's options for srun. srun takes the first word that is no option as the program of its tasks, which would get
 * the agent's arguments and the start's secret; and some options take the agents' streams away, or run other programs.
 */

/** What would take the agents' streams, or their place. srun knows long names by their beginnings. */
const TAKEN_LONG = ['error', 'help', 'input', 'multi-prog', 'output', 'pty', 'usage', 'version'];
const TAKEN_SHORT = new Set(['e', 'h', 'i', 'o', 'V']);
const BEGINNING_CHARS_MIN = 2;

/** Options that name files, most of them programs that srun or Slurm's daemons run. */
const FILE_OPTIONS = [
  'bcast', 'container', 'epilog', 'export-file', 'nodefile', 'prolog', 'task-epilog', 'task-prolog',
];

/** The first word that cannot be used, with what is expected; undefined: none. */
export function optionsProblem(words: readonly string[]): string | undefined {
  const word = words.find((one) => !/^-(?:[A-Za-z]|-[A-Za-z])/.test(one));
  if (word !== undefined) {
    return `'${word}' is no option of srun. Expected options, each with its value in one word: --qos=debug, -pdebug.`;
  }
  const taken = words.find((one) => TAKEN_SHORT.has(one[1] ?? '') || isOneOf(one, TAKEN_LONG));
  return taken === undefined ? undefined
    : `'${taken}' cannot be given: srun's streams and its program are those of the agents. Leave it out.`;
}

/** The first word that names a file by a relative path; undefined: none. */
export function relativeFile(words: readonly string[]): string | undefined {
  return words.find((word) => isOneOf(word, FILE_OPTIONS) && !/^[^=]*=(?:\/|none$)/.test(word) && word.includes('='));
}

function isOneOf(word: string, names: readonly string[]): boolean {
  const name = /^--([^=]*)/.exec(word)?.[1] ?? '';
  return name.length >= BEGINNING_CHARS_MIN && names.some((one) => one.startsWith(name));
}
