/**
 * Options of the library and of the command line, one table: for each option of stcirun the library's, or why there is
 * none. From options the words are made that stcirun's own parser reads, so that both have the same rules.
 */

import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { optionName, type FlagName } from '../cli/flags.js';
import { SYNONYMS } from '../cli/peers.js';
import { allocValue } from '../cli/values.js';
import type { ScannedContext } from '../cli/scan.js';
import { locatePlugin } from '../plugin/locate.js';
import type { JobOptions, LaunchOptions, ProgramOptions } from './options.js';

type JobOption = keyof JobOptions | 'programs';
type ProgramOption = keyof ProgramOptions;
type OptionName = JobOption | ProgramOption;

interface Absent {
  readonly absent: string;
}

const CALLERS_OUTPUT: Absent = { absent: 'output comes as chunks and lines, with rank and stream' };
const CALLERS_FILES: Absent = { absent: 'files are the caller\'s; the option `output` says who reads' };
const EACH: Absent = { absent: 'launch() for each host does the same' };
const EVENTS: Absent = { absent: 'Job.events has them' };

export const OPTION_OF_FLAG = {
  np: 'np',
  ppn: 'ppn',
  host: 'hosts',
  hostfile: 'hostfile',
  exclude: 'exclude',
  alloc: 'alloc',
  spares: 'spares',
  nodes: 'nodes',
  'map-by': 'mapBy',
  'bind-to': 'bindTo',
  'cpus-per-rank': 'cpusPerRank',
  'report-bindings': 'reportBindings',
  oversubscribe: 'oversubscribe',
  wdir: 'wdir',
  env: 'variables',
  export: 'export',
  unset: 'unset',
  launcher: 'launcher',
  overlay: 'overlay',
  mca: 'params',
  am: 'paramFiles',
  plugin: 'plugins',
  'on-failure': 'onFailure',
  client: 'client',
  mpi: 'mpi',
  'with-ft': { absent: "onFailure: 'notify' says the same" },
  'on-launch-failure': 'onLaunchFailure',
  'min-hosts': 'minHosts',
  each: EACH,
  fanout: EACH,
  hosttimeout: EACH,
  strict: { absent: 'Job.events tells of hosts that are left out' },
  timeout: 'timeoutMs',
  'launch-timeout': 'launchTimeoutMs',
  session: 'session',
  wait: 'wait',
  stdin: 'stdin',
  pty: { absent: 'the terminal is the caller\'s' },
  'forward-signals': 'forwardSignals',
  detach: { absent: 'Job.detach leaves a job to its session' },
  tag: CALLERS_OUTPUT,
  color: CALLERS_OUTPUT,
  timestamp: CALLERS_OUTPUT,
  output: CALLERS_FILES,
  tee: CALLERS_FILES,
  gather: CALLERS_OUTPUT,
  json: EVENTS,
  events: EVENTS,
  verbose: EVENTS,
  quiet: { absent: 'nothing is printed' },
  'exit-report': { absent: 'Job.result has it' },
  display: { absent: 'plan() gives map and plan' },
  'dry-run': { absent: 'plan() gives map and plan' },
  version: { absent: 'VERSION' },
  help: { absent: 'docs/library.md' },
} as const satisfies Readonly<Record<FlagName, OptionName | Absent>>;

/** How a value is written as values of a flag; undefined: it has the wrong type. */
interface Form {
  readonly expected: string;
  readonly values: (value: unknown) => readonly string[] | undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const form = (expected: string, values: Form['values']): Form => ({ expected, values });
const text = (expected: string): Form => form(expected, (value) => (isText(value) ? [value] : undefined));
const texts = (expected: string): Form =>
  form(`${expected}, or an array of such`, (value) => (isText(value) ? [value] : isTexts(value) ? value : undefined));
const joined = (expected: string): Form =>
  form(`${expected}, or an array of such`, (value) =>
    (isText(value) ? [value] : isTexts(value) ? [value.join()] : undefined));
/** `-` is the input of a command. */
const PATHS = form('a path, or an array of such', (value) => {
  const paths = isText(value) ? [value] : value;
  return isTexts(paths) && !paths.includes('-') ? paths : undefined;
});
/** The parser has the upper bounds. */
const count = (least: number): Form => form(`an integer of at least ${least}`, (value) =>
  (Number.isSafeInteger(value) && (value as number) >= least ? [String(value)] : undefined));
const TIME = form('an integer of at least 1, in ms', (value) =>
  (Number.isSafeInteger(value) && (value as number) >= 1 ? [`${value as number}ms`] : undefined));
const BOOLEAN = form('true or false', (value) => (value === true ? [''] : value === false ? [] : undefined));
/** Of the library alone: no flag has it. */
const own = (expected: string, isRight: (value: unknown) => boolean): Form =>
  form(expected, (value) => (isRight(value) ? [] : undefined));
const pairs = (expected: string, isValue: (value: unknown) => boolean): Form => form(expected, (value) => {
  if (!isObject(value) || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  if (!entries.every(([name, each]) => name !== '' && !name.includes('=') && isValue(each))) return undefined;
  return entries.map(([name, each]) => `${name}=${String(each)}`);
});
const oneOf = (...words: readonly string[]): Form =>
  own(words.map((word) => `'${word}'`).join(', '), (value) => words.includes(value as string));

const optionTexts = (value: unknown): readonly string[] | undefined =>
  (value === true ? [''] : isText(value) ? [value] : isTexts(value) ? value : undefined);

const isScalar = (value: unknown): boolean =>
  isText(value) || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));

const PROGRAM_FORMS: Readonly<Record<ProgramOption, Form>> = {
  program: own('the name or path of a program', (value) => isText(value) && value !== ''),
  args: own('an array of strings', isTexts),
  np: count(1),
  hosts: texts('a list of hosts such as "a:2,b" or "n[01-16]"'),
  wdir: text('a path'),
  variables: pairs('an object of strings by the names of variables', isText),
};

const JOB_FORMS: Readonly<Record<JobOption, Form>> = {
  programs: own('an array of at least one program, each an object', (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isObject)),
  hostfile: PATHS,
  exclude: texts('a list of hosts'),
  alloc: form("true, or options of salloc such as '-p debug', or an array of such", (value) =>
    (value === false ? [] : optionTexts(value)?.map(allocValue))),
  spares: count(1),
  nodes: count(1),
  minHosts: count(1),
  ppn: count(1),
  mapBy: text("'slot', 'node', 'ppr:N', 'socket', 'numa' or 'l3cache'"),
  bindTo: text("'core', 'hwthread', 'socket', 'numa', 'l3cache' or 'none'"),
  cpusPerRank: count(1),
  reportBindings: BOOLEAN,
  oversubscribe: BOOLEAN,
  wdir: text('a path'),
  env: own('an object of strings by the names of variables', (value) =>
    isObject(value) && Object.values(value).every((each) => each === undefined || isText(each))),
  export: texts("'all', 'none', a name, or NAME=VALUE"),
  unset: texts('the name of a variable, or a pattern'),
  launcher: text("the name of a launcher, such as 'local' or 'ssh'"),
  overlay: text("a topology such as 'bmg'"),
  params: pairs('an object of strings, numbers and booleans by the names of parameters', isScalar),
  paramFiles: PATHS,
  plugins: texts('a path'),
  onFailure: text("a policy such as 'abort', 'continue' or 'restart:3'"),
  onLaunchFailure: text("'abort', 'retry', 'retry:N', 'spare' or 'shrink'"),
  client: BOOLEAN,
  mpi: text("'auto', 'pmi1', 'pmix' or 'none'"),
  timeoutMs: TIME,
  launchTimeoutMs: TIME,
  session: text('the name of a session, or \'none\''),
  wait: BOOLEAN,
  stdin: form("a rank, 'all' or 'none'", (value) =>
    (Number.isSafeInteger(value) || value === 'all' || value === 'none' ? [String(value)] : undefined)),
  input: own('text, bytes, or an iterable of such', (value) => isText(value) || value instanceof Uint8Array
    || (isObject(value) && (Symbol.iterator in value || Symbol.asyncIterator in value))),
  output: oneOf('iterate', 'discard', 'inherit'),
  signal: own('an AbortSignal', (value) => value instanceof AbortSignal),
  handleSignals: own('true or false', (value) => typeof value === 'boolean'),
  forwardSignals: joined("names of signals such as 'USR1', or 'none'"),
};

const FORMS: Readonly<Record<OptionName, Form>> = { ...PROGRAM_FORMS, ...JOB_FORMS };

/** Options of one program as the parser takes them from a command line. Throws STCI_USAGE naming the option. */
export function contextsOf(options: LaunchOptions, wdir: string | undefined): readonly ScannedContext[] {
  if (!isObject(options) || Array.isArray(options)) throw usage(`expected an object, got ${shown(options)}.`);
  checkNames(options, [...Object.keys(JOB_FORMS), ...Object.keys(PROGRAM_FORMS)], '');
  check(options, JOB_FORMS, '');
  const several = options.programs !== undefined;
  const programs: readonly ProgramOptions[] = several ? options.programs : [single(options as ProgramOptions)];
  if (several) checkAlone(options);
  const words = (given: object, names: readonly string[]): readonly string[] =>
    Object.entries(OPTION_OF_FLAG).flatMap(([flag, option]) =>
      (typeof option === 'string' && names.includes(option) ? wordsOf(flag, option, given, wdir) : []));
  // What a command reads of its caller's input, a library does not.
  const ofJob = { ...options, stdin: options.stdin ?? (options.input === undefined ? 'none' : 0) };
  const jobNames = Object.keys(JOB_FORMS).filter((name) => name !== 'wdir');
  return programs.map((program, index) => {
    const where = several ? `programs[${index}].` : '';
    checkNames(program, Object.keys(PROGRAM_FORMS), where);
    check(program, PROGRAM_FORMS, where);
    if (program.program === undefined) throw usage(`${where}program: expected ${PROGRAM_FORMS.program.expected}.`);
    return {
      options: [...(index === 0 ? words(ofJob, jobNames) : []), ...words(program, Object.keys(PROGRAM_FORMS))],
      command: [program.program, ...(program.args ?? [])],
    };
  });
}

/** The program's part of options of a job of one; its directory is the job's. */
function single(options: ProgramOptions): ProgramOptions {
  const { program, args, np, hosts, variables } = options;
  return { program, args, np, hosts, variables };
}

function wordsOf(flag: string, option: OptionName, given: object, wdir: string | undefined): readonly string[] {
  const value = (given as Readonly<Record<string, unknown>>)[option];
  if (value === undefined) return [];
  const values = FORMS[option].values(value) ?? [];
  // The parser looks for plugins from the process's directory.
  const absolute = flag === 'plugin' && wdir !== undefined ? values.map((path) => locatePlugin(wdir, path)) : values;
  return FORMS[option] === BOOLEAN ? absolute.map(() => `--${flag}`) : absolute.map((each) => `--${flag}=${each}`);
}

function checkNames(given: object, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const flag = (OPTION_OF_FLAG as Readonly<Record<string, unknown>>)[unknown] ?? optionOfOthers(unknown);
  const why = isObject(flag) ? ` ${sentence((flag as Absent).absent)}` : typeof flag === 'string' ? ` Write ${flag}.`
    : didYouMean(unknown, known);
  throw usage(`unknown option ${where}${unknown}.${why} docs/library.md lists all.`);
}

/** Words for ranks, a directory, a program in other libraries. */
const OTHERS: Readonly<Record<string, OptionName>> = {
  n: 'np', nprocs: 'np', nproc: 'np', ranks: 'np', processes: 'np', tasks: 'np', cwd: 'wdir', command: 'program',
  cmd: 'program', argv: 'args', stdout: 'output', abortSignal: 'signal',
};

/** Also what other launchers have, as `ntasks`. */
function optionOfOthers(word: string): OptionName | Absent | undefined {
  if (Object.hasOwn(OTHERS, word)) return OTHERS[word];
  const flag = SYNONYMS.get(word.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`));
  return typeof flag === 'string' ? OPTION_OF_FLAG[flag] : undefined;
}

function check(given: object, forms: Readonly<Record<string, Form>>, where: string): void {
  for (const [name, value] of Object.entries(given)) {
    const wanted = forms[name];
    if (value === undefined || wanted === undefined || wanted.values(value) !== undefined) continue;
    throw usage(`${where}${name}: expected ${wanted.expected}, got ${shown(value)}.`);
  }
}

/** With `programs`, what belongs to one program is given there. */
function checkAlone(options: object): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined).map(([name]) => name);
  const wrong = given.find((name) => name !== 'wdir' && Object.hasOwn(PROGRAM_FORMS, name));
  if (wrong !== undefined) throw usage(`${wrong} and programs cannot be combined: give each program its own ${wrong}.`);
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

function usage(words: string): StciError {
  return new StciError('STCI_USAGE', `launch: ${words}`);
}

const SHOWN_MAX = 80;

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'bigint') return `${value}n`;
  let words: string | undefined;
  try {
    words = JSON.stringify(value, (_name, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
  } catch {
    // The value contains itself.
  }
  const said = value === undefined || typeof value === 'number' ? String(value) : words ?? typeof value;
  return said.length > SHOWN_MAX ? `${said.slice(0, SHOWN_MAX)}…` : said;
}

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(OPTION_OF_FLAG).flatMap(([flag, option]) => {
  if (typeof option !== 'string') return [];
  const [short = '', long = short] = optionName(flag as FlagName).split('/');
  return [...new Set([`${short}/${long}`, long, short])].map((name): [string, string] => [name, option]);
}));

/** An error whose message names options as the library does. Commands that a message suggests stay as they are. */
export function inOptionNames(thrown: unknown): unknown {
  if (!(thrown instanceof StciError)) return thrown;
  const said = thrown.message.replaceAll(/\bcommand line \((.*?)\)(?=: )/gu, '$1')
    .replaceAll('by the command line', 'by the options');
  const message = said.replaceAll(/'stci [^']*'|(?<![\w/-])-[-a-z/]*[a-z](?![\w-])/gu, (word) =>
    NAMES.get(word) ?? word);
  if (message === thrown.message) return thrown;
  const { code, agent, host, rank, data, cause } = thrown;
  return new StciError(code, message, { agent, host, rank, data, cause });
}
