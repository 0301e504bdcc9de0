/**
 * Where values come from, as text: the lines of a file, the variables of an environment, the options of a command
 * line. Nothing here reads a file or an environment: the caller passes in what it has read; `paramFilePaths` says
 * where to look.
 */

import type { ParamSource } from '@stci/interface';
import type { ParamProblem } from './problems.js';
import { plain, quote } from './problems.js';

/** One value as its source wrote it. */
export interface ParamText {
  readonly name: string;
  readonly text: string;
  readonly source: ParamSource;
  /** `/etc/stci/stci.conf:3`, `STCI_MCA_launcher_window`, `--mca launcher.window=4`. */
  readonly origin: string;
}

/** A file that was looked for; `text` is undefined where there is none. */
export interface ParamFile {
  readonly path: string;
  readonly text: string | undefined;
}

/** All that the resolver reads. A source that is left out has no values. */
export interface ParamInputs {
  readonly override?: ParamFile;
  /** `--mca key=value` and its short forms, in order. `origin` is the option as written. */
  readonly commandLine?: readonly { readonly key: string; readonly value: string; readonly origin?: string }[];
  /** `--am FILE`, in order; a later file overrides an earlier one. */
  readonly amFiles?: readonly (ParamFile & { readonly text: string })[];
  /** The whole environment; only `STCI_MCA_*` is looked at. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly project?: ParamFile;
  readonly user?: ParamFile;
  readonly system?: ParamFile;
}

/** One source's values, and what cannot be read of it. */
export interface SourceTexts {
  readonly texts: readonly ParamText[];
  readonly problems: readonly ParamProblem[];
}

export const ENVIRONMENT_PREFIX = 'STCI_MCA_';

/** Bounds of one file: lines looked at, and characters in a line. */
const FILE_LINES_MAX = 10_000;
const LINE_LENGTH_MAX = 10_000;

/** The variable that sets a parameter: `STCI_MCA_launcher_tree_arity`. */
export function environmentName(name: string): string {
  return ENVIRONMENT_PREFIX + name.replaceAll('.', '_');
}

/** `key = value` lines; `#` begins a comment at the start of a line or after a blank. */
export function fileTexts(source: ParamSource, file: ParamFile | undefined): SourceTexts {
  const texts: ParamText[] = [];
  const problems: ParamProblem[] = [];
  const lines = (file?.text ?? '').replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, line] of lines.slice(0, FILE_LINES_MAX).entries()) {
    const origin = `${file?.path}:${index + 1}`;
    const read = readLine(line);
    if (read === undefined) continue;
    if (typeof read === 'string') problems.push(fileProblem(source, origin, read));
    else texts.push({ ...read, source, origin });
  }
  if (lines.length > FILE_LINES_MAX) {
    problems.push(fileProblem(source, `${file?.path}`, `has more than ${FILE_LINES_MAX} lines; shorten it.`));
  }
  return withoutRepeats(texts, problems);
}

function readLine(line: string): { name: string; text: string } | string | undefined {
  if (line.length > LINE_LENGTH_MAX) return `is longer than ${LINE_LENGTH_MAX} characters; shorten it.`;
  const bare = line.replace(/(^|\s)#.*$/, '').trim();
  if (bare === '') return undefined;
  const equals = bare.indexOf('=');
  if (equals < 1) {
    return `expected "key = value", got ${quote(bare)}. Write a parameter, or put # before a comment.`;
  }
  return { name: bare.slice(0, equals).trim(), text: bare.slice(equals + 1).trim() };
}

function fileProblem(source: ParamSource, origin: string, problem: string): ParamProblem {
  return { code: 'STCI_PARAM_FILE', message: `${origin}: ${problem}`, source, origin };
}

export function amTexts(files: NonNullable<ParamInputs['amFiles']> = []): SourceTexts {
  const read = files.map((file) => fileTexts('am file', file));
  const texts = new Map(read.flatMap((each) => each.texts).map((text) => [text.name, text]));
  return { texts: [...texts.values()], problems: read.flatMap(({ problems }) => problems) };
}

export function commandLineTexts(options: NonNullable<ParamInputs['commandLine']> = []): SourceTexts {
  const texts = options.map(({ key, value, origin }): ParamText => {
    return { name: key, text: value, source: 'command line', origin: plain(origin ?? `--mca ${key}=${value}`) };
  });
  return withoutRepeats(texts, []);
}

export function environmentTexts(environment: Readonly<Record<string, string | undefined>> = {}): SourceTexts {
  const texts: ParamText[] = [];
  for (const variable of Object.keys(environment).sort()) {
    const text = environment[variable];
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || text === undefined) continue;
    const name = variable.slice(ENVIRONMENT_PREFIX.length).replaceAll('_', '.');
    texts.push({ name, text, source: 'environment', origin: plain(variable) });
  }
  return { texts, problems: [] };
}

/** The same name twice in one source is only allowed with the same value. */
function withoutRepeats(texts: readonly ParamText[], problems: ParamProblem[]): SourceTexts {
  const first = new Map<string, ParamText>();
  for (const text of texts) {
    const earlier = first.get(text.name);
    if (earlier === undefined) first.set(text.name, text);
    else if (earlier.text !== text.text) problems.push(repeatProblem(earlier, text));
  }
  return { texts: [...first.values()], problems };
}

export function repeatProblem(earlier: ParamText, later: ParamText): ParamProblem {
  return {
    code: 'STCI_PARAM_INVALID',
    message: `${plain(later.name)} is set twice by the ${later.source}: ${quote(earlier.text)} (${earlier.origin}) and `
      + `${quote(later.text)} (${later.origin}). Keep one.`,
    name: later.name,
    value: later.text,
    source: later.source,
    origin: later.origin,
  };
}

/** Where the files are looked for. `project` is in order: the first that exists is used. */
export interface ParamFilePaths {
  readonly override: string;
  readonly project: readonly string[];
  readonly user: string | undefined;
  readonly system: string;
}

/**
 * Candidate paths for a working directory (absolute; undefined: there is none) and an environment (`XDG_CONFIG_HOME`,
 * `HOME`).
 */
export function paramFilePaths(
  workingDirectory: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): ParamFilePaths {
  const { XDG_CONFIG_HOME: xdg, HOME: home } = environment;
  // The XDG rule: a relative path there is invalid and ignored.
  const config = xdg?.startsWith('/') === true ? xdg : home ? `${home}/.config` : undefined;
  return {
    override: '/etc/stci/override.conf',
    project: upward(workingDirectory).map((directory) => `${directory === '/' ? '' : directory}/stci.conf`),
    user: config === undefined ? undefined : `${config.replace(/\/+$/, '')}/stci/stci.conf`,
    system: '/etc/stci/stci.conf',
  };
}

function upward(directory: string | undefined): string[] {
  if (directory === undefined) return [];
  const parts = directory.split('/').filter((part) => part !== '');
  return Array.from({ length: parts.length + 1 }, (_, index) => `/${parts.slice(0, parts.length - index).join('/')}`);
}
