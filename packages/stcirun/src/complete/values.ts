/** Candidates for values of options and for arguments: which kind each takes, and what there is of a kind. */

import { SUBJECTS, type Registry } from '@stci/core';
import { TAG_MODES } from '@stci/core/iof';
import type { ParamSpec } from '@stci/interface';
import { DISPLAYS, MPI_WORDS } from '../cli/values.js';
import { COLOR_MODES } from '../process/colors.js';

export interface Candidate {
  readonly text: string;
  readonly help?: string;
  /** More may follow in the same word: no blank behind it. */
  readonly isOpen?: true;
}

/** What the shell itself lists. */
export type Listing = 'files' | 'directories' | 'experiments';

export interface Values {
  readonly candidates: readonly Candidate[];
  /** Of the shell, for the word's part from `from` on. */
  readonly listing?: { readonly what: Listing; readonly from: number };
}

/** What is known of the world; each answers soon, with nothing where there is trouble. */
export interface Sources {
  readonly registry: Registry;
  /** Names of variables of the caller's environment. */
  readonly variables: readonly string[];
  /** Of the host files that parameters name, and these; of ssh's files. */
  hosts(hostfiles: readonly string[]): readonly string[];
  sessions(): readonly string[];
  /** Of all sessions; `only`: of the one with this name. */
  jobs(only: string | undefined): Promise<readonly string[]>;
  /** Hosts of the session of a job, or of the session. */
  sessionHosts(session: string | undefined): Promise<readonly string[]>;
  /** Ranks of a job, `night.3`. */
  ranks(job: string): Promise<readonly string[]>;
}

export interface Asked {
  /** The word's part that is the value. */
  readonly text: string;
  /** All words before it. */
  readonly words: readonly string[];
  readonly sources: Sources;
}

const SIGNALS = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'CONT', 'STOP', 'TSTP'];

type Kind = (asked: Asked) => Values | Promise<Values>;

const words = (list: readonly string[]): Values => ({ candidates: list.map((text) => ({ text })) });
const fixed = (...list: string[]): Kind => () => words(list);
const listing = (what: Listing): Kind => () => ({ candidates: [], listing: { what, from: 0 } });
const nothing: Kind = () => ({ candidates: [] });

/** Items between commas, each once; the last one is completed. `isOpen`: another may follow. */
function items(text: string, all: readonly Candidate[], isOpen = true): Values {
  const [before, given] = splitList(text);
  const rest = all.filter((one) => !given.includes(one.text));
  return { candidates: rest.map((one) => ({ ...one, text: before + one.text, ...(isOpen && { isOpen }) })) };
}

/** At the last comma outside of brackets: what stands before the last item, and the items there. */
function splitList(text: string): [before: string, given: readonly string[]] {
  const parts = text.match(/(?:[^,[]|\[[^\]]*(?:\]|$))+|,/gu) ?? [];
  const given = parts.filter((part) => part !== ',');
  if (parts.at(-1) !== ',' && parts.length > 0) given.pop();
  const last = parts.at(-1) === ',' ? '' : (parts.at(-1) ?? '');
  return [text.slice(0, text.length - last.length), given.map((item) => item.replace(/:\d*$/u, ''))];
}

function hostItems(text: string, names: readonly string[]): Values {
  const [before] = splitList(text);
  const login = /^[^@,]*@/u.exec(text.slice(before.length))?.[0] ?? '';
  return items(text, names.map((name) => ({ text: login + name })));
}

/** Values of these options on a line: `--hostfile a --hostfile=b`. */
export function optionValues(line: readonly string[], ...options: readonly string[]): readonly string[] {
  return line.flatMap((word, index) => {
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/su.exec(word) ?? [];
    if (!options.includes(name)) return [];
    return value ?? line[index + 1] ?? [];
  });
}

const hosts: Kind = ({ text, words: line, sources }) =>
  hostItems(text, sources.hosts(optionValues(line, '--hostfile', '-f', '--machinefile')));

const sessionHosts: Kind = async ({ text, words: line, sources }) =>
  hostItems(text, await sources.sessionHosts(sessionOf(line)));

/** The job that is named as `night.3`. */
function jobOf(line: readonly string[]): string | undefined {
  return line.find((word) => /^[^-].*\.\d+$/u.test(word));
}

/** The session of `--session`, or of the job that is named. */
function sessionOf(line: readonly string[]): string | undefined {
  return optionValues(line, '--session').at(-1) ?? /^(.+)\.\d+$/u.exec(jobOf(line) ?? '')?.[1];
}

const components = (framework: string): Kind => ({ sources }) => ({
  candidates: sources.registry.components(framework).map(({ name, help }) => ({ text: name, help })),
});

/** `abort`, `tool=restart`, and further ones behind a comma. */
const policies: Kind = ({ text, sources }) => {
  const [before] = splitList(text);
  const kind = /^\w+=/u.exec(text.slice(before.length))?.[0] ?? '';
  const all = sources.registry.components('errmgr').map(({ name, help }) => ({ text: kind + name, help }));
  const kinds = kind !== '' ? [] : SUBJECTS.map((name) => ({ text: `${before}${name}=`, isOpen: true as const }));
  return { candidates: [...items(text, all, false).candidates, ...kinds] };
};

const params: Kind = ({ text, sources }) => {
  const equals = text.indexOf('=');
  const entries = [...sources.registry.catalog.values()];
  if (equals < 0) {
    return { candidates: entries.map(({ name, spec }) => ({ text: `${name}=`, help: spec.help, isOpen: true })) };
  }
  const key = text.slice(0, equals);
  const spec = entries.find(({ name, spec: { aliases = [] } }) => name === key || aliases.includes(key))?.spec;
  const { candidates } = spec === undefined ? words([]) : specValues(key, spec, text.slice(equals + 1), sources);
  return { candidates: candidates.map((one) => ({ ...one, text: `${key}=${one.text}` })) };
};

function specValues(key: string, spec: ParamSpec, text: string, { registry }: Sources): Values {
  if (spec.type === 'enum') return words(spec.values ?? []);
  if (spec.type === 'bool') return words(['true', 'false']);
  const framework = registry.frameworks
    .find(({ name }) => name === key || (spec.selects === true && key.startsWith(`${name}.`)));
  if (framework !== undefined) {
    const [, not = '', list = ''] = /^(\^?)(.*)$/su.exec(text) ?? [];
    const all = registry.components(framework.name).map(({ name, help }) => ({ text: name, help }));
    return { candidates: items(list, all, false).candidates.map((one) => ({ ...one, text: not + one.text })) };
  }
  if (!/topology$/u.test(key)) return words([]);
  return { candidates: registry.components('topology').map(({ name, help }) => ({ text: name, help })) };
}

const jobs: Kind = async ({ words: line, sources }) =>
  words(await sources.jobs(optionValues(line, '--session').at(-1)));
const sessions: Kind = ({ sources }) => words(sources.sessions());
const sessionsAndJobs: Kind = async (asked) => {
  const { candidates } = await jobs(asked);
  const isNamed = optionValues(asked.words, '--session').length > 0;
  return isNamed ? { candidates } : { candidates: [...words(asked.sources.sessions()).candidates, ...candidates] };
};
const variables: Kind = ({ sources }) => words(sources.variables);

const targets: Kind = ({ text, sources: { registry } }) => {
  const framework = registry.frameworks.find(({ name }) => text.startsWith(`${name}:`))?.name;
  if (framework === undefined) {
    return { candidates: registry.frameworks.map(({ name, help }) => ({ text: name, help })) };
  }
  const own = registry.components(framework);
  return { candidates: own.map(({ name, help }) => ({ text: `${framework}:${name}`, help })) };
};

const exitReport: Kind = ({ text }) => {
  const head = /^(?:text|json):/u.exec(text)?.[0];
  return head === undefined ? words(['text', 'json'])
    : { candidates: [], listing: { what: 'files', from: head.length } };
};

const ranks: Kind = async ({ text, words: line, sources }) => {
  const job = jobOf(line);
  return items(text, (job === undefined ? [] : await sources.ranks(job)).map((rank) => ({ text: rank })));
};

const agents: Kind = async ({ words: line, sources }) => {
  const names = await sources.sessionHosts(sessionOf(line));
  return words(['controller', ...names.flatMap((name) => [`root:${name}`, `session:${name}`])]);
};

const link: Kind = async ({ text, words: line, sources }) =>
  items(text, ['controller', ...await sources.sessionHosts(sessionOf(line))].map((name) => ({ text: name })));

/** Arguments of the fault that `--kind` names, else of all. */
const faultArgs: Kind = ({ text, words: line, sources: { registry } }) => {
  const kind = optionValues(line, '--kind').at(-1);
  const faults = registry.components('fault').filter(({ name }) => kind === undefined || name === kind);
  const all = new Map(faults.flatMap(({ args = {} }) => Object.entries(args)));
  const key = /^([^=]*)=/su.exec(text)?.[1];
  if (key === undefined) {
    return { candidates: [...all].map(([name, { help }]) => ({ text: `${name}=`, help, isOpen: true })) };
  }
  const spec = all.get(key);
  const list = spec?.type === 'bool' ? ['true', 'false'] : spec?.values ?? [];
  return words(list.map((value) => `${key}=${value}`));
};

/** Kinds by the option's name, `command --option` where commands differ; each option with a value has its row. */
export const OPTION_KINDS: Readonly<Record<string, Kind>> = {
  'cpus-per-rank': nothing,
  np: nothing, alloc: nothing, ppn: nothing, nodes: nothing, spares: nothing, timeout: nothing,
  'launch-timeout': nothing, 'min-hosts': nothing, fanout: nothing, hosttimeout: nothing,
  name: nothing, repeat: nothing, repeats: nothing, seed: nothing, for: nothing,
  host: hosts, exclude: hosts, 'kill --host': sessionHosts,
  hostfile: listing('files'), am: listing('files'), plugin: listing('files'), events: listing('files'),
  wdir: listing('directories'), dir: listing('directories'), output: listing('files'), mpicc: listing('files'),
  'run --output': listing('directories'), 'probe --output': listing('directories'),
  'replay --output': listing('directories'),
  'map-by': () => ({
    candidates: [
      ...['slot', 'node', 'socket', 'numa', 'l3cache'].map((text) => ({ text })), { text: 'ppr:', isOpen: true },
    ],
  }),
  'bind-to': fixed('core', 'hwthread', 'socket', 'numa', 'l3cache', 'none'),
  env: variables, unset: variables,
  export: ({ text, sources }) =>
    items(text, ['all', 'none', 'default', ...sources.variables].map((name) => ({ text: name })), false),
  launcher: components('launcherproc'),
  overlay: components('topology'),
  mca: params,
  'on-failure': policies,
  mpi: fixed(...MPI_WORDS),
  'with-ft': fixed('ulfm'),
  'on-launch-failure': fixed('abort', 'retry', 'spare', 'shrink'),
  'forward-signals': ({ text }) => items(text, ['none', ...SIGNALS].map((name) => ({ text: name })), false),
  display: fixed(...DISPLAYS),
  session: ({ sources }) => words([...sources.sessions(), 'none']),
  stdin: fixed('all', 'none', '0'),
  tag: fixed(...TAG_MODES),
  color: fixed(...COLOR_MODES),
  'exit-report': exitReport,
  'send --tag': nothing, 'recv --tag': nothing, from: nothing, wait: nothing, size: nothing, position: nothing,
  signal: fixed(...SIGNALS),
  rank: ranks,
  agent: agents,
  link,
  kind: components('fault'),
  arg: faultArgs,
};

/** Kinds by the argument's name, `command argument` where commands differ. */
export const ARGUMENT_KINDS: Readonly<Record<string, Kind>> = {
  job: jobs,
  'ps job': sessionsAndJobs,
  session: sessions,
  list: hosts,
  'remove-hosts list': sessionHosts,
  target: targets,
  file: listing('experiments'),
  run: listing('directories'),
  path: listing('directories'),
  program: listing('files'),
  framework: ({ sources: { registry } }) => words(registry.frameworks.map(({ name }) => name)),
  name: nothing, key: nothing, value: nothing, rank: nothing, root: nothing, text: nothing,
  topology: components('topology'), call: nothing,
  'true|false': fixed('true', 'false'),
  shell: fixed('bash', 'zsh', 'fish'),
};
