/**
 * Values of options: text in, typed value out. An invalid one is refused with what was expected; nothing is
 * guessed or abbreviated.
 */

import { TAG_MODES, type TagMode } from '@stci/core/iof';
import { BIND_TO, SUBJECTS, didYouMean, parseValue, type BindTo } from '@stci/core';
import { StciError, type MapBy, type StdinTo } from '@stci/interface';
import { readSallocOptions } from '../alloc/salloc-options.js';
import { COLOR_MODES, type ColorMode } from '../process/colors.js';

/** Most ranks that can be written; the job's own bound is the parameter `job.size.max`. */
const COUNT_MAX = 268_435_456;
/** Node's timers hold 2³¹ ms, and no whole hour more. */
const DURATION_HOURS_MAX = 596;

/** oclif adds to the message of an error thrown while it parses; `text` is kept as it was. */
export class OptionValueError extends StciError {
  readonly text: string;

  constructor(text: string) {
    super('STCI_USAGE', text);
    this.text = text;
  }
}

function refuse(name: string, text: string, expected: string): never {
  throw new OptionValueError(`${name}: expected ${expected}, got '${text}'.`);
}

export function parseText(name: string, text: string): string {
  if (text === '') refuse(name, text, 'a value');
  return text;
}

export function parseCount(name: string, text: string): number {
  const count = Number(text);
  if (!/^\d+$/u.test(text) || count < 1 || count > COUNT_MAX) {
    refuse(name, text, `an integer from 1 to ${COUNT_MAX}, written in digits`);
  }
  return count;
}

/** A number of hosts for srun, and of ranks on each for Open MPI's mpirun. */
export const NODES_LETTER = '-N';

export interface NodesRequest {
  readonly count: number;
  /** As it was written. */
  readonly option: '--nodes' | typeof NODES_LETTER;
}

/** `4`, or `N4` where the letter was written. */
export function parseNodes(text: string): NodesRequest {
  const [, letter, count = ''] = /^(N?)(.*)$/su.exec(text) ?? [];
  const option = letter === 'N' ? NODES_LETTER : '--nodes';
  return { count: parseCount(option, count), option };
}

/** Seconds where no unit is written, as with other launchers. */
export function parseDuration(name: string, text: string): number {
  const spec = { type: 'duration', default: 0, min: 1, max: DURATION_HOURS_MAX * 3_600_000, help: '' } as const;
  const parsed = parseValue(spec, /^\d+$/u.test(text) ? `${text}s` : text);
  if (parsed.ok && typeof parsed.value === 'number') return parsed.value;
  if (/^\d+(?:ms|s|m|h)?$/u.test(text)) {
    refuse(name, text, /^0+\D*$/u.test(text) ? 'a time of more than 0' : `at most ${DURATION_HOURS_MAX}h`);
  }
  return refuse(name, text, 'seconds, or an integer and a unit (ms, s, m, h), such as 10, 250ms or 5m');
}

/** As oclif takes a value that is empty, or begins as one of our options does: with a blank before it. */
export function allocValue(text: string): string {
  return ` ${text}`;
}

/** Options of salloc, as words. */
export function parseAlloc(name: string, text: string): readonly string[] {
  const words = readSallocOptions(text);
  if (!words.ok) throw new OptionValueError(`${name}: '${text.trim()}' ${words.problem}.`);
  return words.value;
}

/** Items of `--export`: one for each comma. */
export function parseExport(name: string, text: string): string {
  if (text.split(',').includes('')) refuse(name, text, 'all, none, or names and NAME=VALUE, separated by commas');
  return text;
}

/** Of `--map-by`: the host of each rank, and, where it is said, the place within the host. */
export interface MapRequest {
  readonly mapBy: MapBy;
  readonly within?: 'slot' | (typeof OBJECTS)[number];
}

/** Whether it says the place within a host alone. */
export const isInner = ({ mapBy, within = 'slot' }: MapRequest): boolean => mapBy.by === 'slot' && within !== 'slot';

/** What is shared by processors of a host. */
const OBJECTS = ['socket', 'numa', 'l3cache'] as const;

/** Open MPI 5 has another word for a socket. */
const objectOf = (text: string): string => (text === 'package' ? 'socket' : text);

export function parseMapBy(name: string, text: string): MapRequest {
  if (text === 'slot') return { mapBy: { by: text }, within: text };
  if (text === 'node') return { mapBy: { by: text } };
  const within = OBJECTS.find((object) => object === objectOf(text));
  if (within !== undefined) return { mapBy: { by: 'slot' }, within };
  const perHost = /^ppr:(.*?)(?::node)?$/su.exec(text)?.[1];
  const hint = /:pe=/iu.test(text) ? '; processors of a rank are --cpus-per-rank N' : '';
  if (perHost?.includes(':') === true) {
    refuse(name, text, `ppr:N or ppr:N:node (by sockets of a host: --ppn N with --map-by socket)${hint}`);
  }
  if (perHost === undefined) refuse(name, text, `slot, node, ppr:N, ${OBJECTS.join(', ')}${hint}`);
  return { mapBy: { by: 'ppr', perHost: parseCount(`${name} ppr:N`, perHost) } };
}

export function parseBindTo(name: string, text: string): BindTo {
  const words = BIND_TO.filter((word) => word !== 'auto');
  return words.find((word) => word === objectOf(text)) ?? refuse(name, text, `one of ${words.join(', ')}`);
}

export function parseStdin(name: string, text: string): StdinTo {
  if (text === 'all' || text === 'none') return { to: text };
  if (!/^\d{1,9}$/u.test(text)) refuse(name, text, 'a rank, all or none');
  return { to: 'rank', rank: Number(text) };
}

export function parseTag(name: string, text: string): TagMode {
  const mode = TAG_MODES.find((known) => known === text);
  return mode ?? refuse(name, text, `one of ${TAG_MODES.join(', ')}`);
}

export function parseColor(name: string, text: string): ColorMode {
  return COLOR_MODES.find((known) => known === text) ?? refuse(name, text, 'auto, always or never');
}

/** Values of the parameter errmgr.launch. */
export interface LaunchFailure {
  readonly policy: 'abort' | 'retry' | 'spare' | 'shrink';
  /** Further starts of one agent, with `retry`; the parameter errmgr.launch.retries has its bounds. */
  readonly count?: string;
  readonly text: string;
}

export function parseLaunchFailure(name: string, text: string): LaunchFailure {
  if (text === 'abort' || text === 'retry' || text === 'spare' || text === 'shrink') return { policy: text, text };
  const count = /^retry:(.*)$/su.exec(text)?.[1];
  if (count === undefined) refuse(name, text, 'abort, retry, retry:N, spare or shrink');
  return { policy: 'retry', count, text };
}

export const MPI_WORDS = ['auto', 'pmi1', 'pmix', 'none'] as const;
export type Mpi = (typeof MPI_WORDS)[number];

export function parseMpi(name: string, text: string): Mpi {
  return MPI_WORDS.find((word) => word === text) ?? refuse(name, text, MPI_WORDS.join(', '));
}

/** As mpirun has it: what it calls mpi is the same here. */
export function parseWithFt(name: string, text: string): string {
  return text === 'ulfm' || text === 'mpi' ? text : refuse(name, text, 'ulfm');
}

/** Parameters that `--on-failure` is short for. */
export interface OnFailure {
  readonly pairs: readonly Pair[];
  readonly text: string;
}

/** `POLICY[:N]`, or `KIND=POLICY[:N]` for some kinds, separated by commas; N is the number of retries. */
export function parseOnFailure(name: string, text: string): OnFailure {
  const values = new Map<string, string>();
  for (const item of text.split(',')) {
    const match = /^(?:([^=]*)=)?([a-z][a-z0-9]*)(?::(\d+))?$/u.exec(item);
    if (match === null) refuse(name, item, 'POLICY, POLICY:N, or KIND=POLICY as in tool=restart:3,host=continue');
    const [, kind, policy = '', count] = match;
    if (kind !== undefined && !SUBJECTS.some((known) => known === kind)) {
      const hint = didYouMean(kind, SUBJECTS);
      const known = SUBJECTS.join(', ');
      throw new OptionValueError(`${name}: unknown kind of failure '${kind}'.${hint} There are: ${known}.`);
    }
    const given = [[kind === undefined ? 'errmgr' : `errmgr.${kind}`, policy], [`errmgr.${policy}.retries`, count]];
    for (const [key = '', value] of given) {
      if (value === undefined) continue;
      const isCount = key.endsWith('.retries');
      if (values.has(key) && !(isCount && values.get(key) === value)) {
        refuse(name, text, isCount ? `one number of retries for ${policy}` : 'one policy for each kind of failure');
      }
      values.set(key, value);
    }
  }
  return { text, pairs: [...values].map(([key, value]) => ({ key, value })) };
}

export const DISPLAYS = ['map', 'plan', 'all'] as const;
export type Display = (typeof DISPLAYS)[number];

export function parseDisplay(name: string, text: string): Display {
  return DISPLAYS.find((known) => known === text) ?? refuse(name, text, 'map, plan or all');
}

export interface ExitReportRequest {
  readonly format: 'text' | 'json';
  /** undefined: standard error. */
  readonly file?: string;
}

const EXIT_REPORT = /^(text|json)(?::(.+))?$/su;
/** What a user means as a format, known or not; a program of such a name is written after `--`. */
const LIKE_EXIT_REPORT = /^(?:(?:text|json|xml|yaml|csv|html|table|junit)$|[a-z]+:)/u;

/** Values of options that take one after `=` only; each could be a program as well. */
const AFTER_EQUALS: Readonly<Record<string, readonly string[]>> = { tag: TAG_MODES, color: COLOR_MODES };

/**
 * Options whose value may be left out: whether the next word is one. `value`: it is, as in `--exit-report
 * json:FILE`; `unclear`: it could also be a program.
 */
export function nextWordIs(name: string, word: string): 'value' | 'unclear' | 'other' {
  if (name === 'exit-report' && LIKE_EXIT_REPORT.test(word)) return 'value';
  return AFTER_EQUALS[name]?.includes(word) === true ? 'unclear' : 'other';
}

export function parseExitReport(name: string, text: string): ExitReportRequest {
  const match = EXIT_REPORT.exec(text);
  if (match === null) refuse(name, text, 'text, json, text:FILE or json:FILE');
  const format = match[1] === 'json' ? 'json' : 'text';
  return match[2] === undefined ? { format } : { format, file: match[2] };
}

export interface Pair {
  readonly key: string;
  readonly value: string;
}

export function parsePair(name: string, text: string): Pair {
  const equals = text.indexOf('=');
  if (equals < 1) refuse(name, text, 'KEY=VALUE');
  return { key: text.slice(0, equals).trim(), value: text.slice(equals + 1) };
}
