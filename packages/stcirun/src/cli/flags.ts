/**
 * Every option of stcirun, as oclif flags: parser, help and documentation all read this one table. What oclif cannot
 * express is in `OPTION_FACTS`: the group in the help, whether an option belongs to one program or to the whole
 * job, and the value that it has when none is given (`--tag` is `--tag=rank`).
 */

import * as Flags from '@oclif/core/flags';
import type { BindTo } from '@stci/core';
import type { TagMode } from '@stci/core/iof';
import type { StdinTo } from '@stci/interface';
import type { ColorMode } from '../process/colors.js';
import {
  parseAlloc,
  parseBindTo,
  parseColor,
  parseCount,
  parseDisplay,
  parseDuration,
  parseExitReport,
  parseExport,
  parseLaunchFailure,
  parseOnFailure,
  parseMapBy,
  parseMpi,
  parseNodes,
  parsePair,
  parseStdin,
  parseTag,
  parseText,
  parseWithFt,
  type Display,
  type ExitReportRequest,
  type LaunchFailure,
  type MapRequest,
  type Mpi,
  type NodesRequest,
  type OnFailure,
  type Pair,
} from './values.js';

// oclif requires parsers that return a promise, and a concrete type for each.
const text = (name: string) => Flags.custom<string>({ parse: async (value) => parseText(name, value) });
const count = (name: string) => Flags.custom<number>({ parse: async (value) => parseCount(name, value) });
const list = (name: string) => Flags.custom<string>({ parse: async (value) => parseExport(name, value) });
const duration = (name: string) => Flags.custom<number>({ parse: async (value) => parseDuration(name, value) });
const mapBy = Flags.custom<MapRequest>({ parse: async (value) => parseMapBy('--map-by', value) });
const bindTo = Flags.custom<BindTo>({ parse: async (value) => parseBindTo('--bind-to', value) });
const pair = Flags.custom<Pair>({ parse: async (value) => parsePair('--mca', value) });
const nodes = Flags.custom<NodesRequest>({ parse: async (value) => parseNodes(value) });
const stdin = Flags.custom<StdinTo>({ parse: async (value) => parseStdin('--stdin', value) });
const color = Flags.custom<ColorMode>({ parse: async (value) => parseColor('--color', value) });
const tag = Flags.custom<TagMode>({ parse: async (value) => parseTag('--tag', value) });
const exitReport = Flags.custom<ExitReportRequest>({ parse: async (value) => parseExitReport('--exit-report', value) });
const onFailure = Flags.custom<OnFailure>({ parse: async (value) => parseOnFailure('--on-failure', value) });

const launchFailure = Flags.custom<LaunchFailure>({
  parse: async (value) => parseLaunchFailure('--on-launch-failure', value),
});
const mpi = Flags.custom<Mpi>({ parse: async (value) => parseMpi('--mpi', value) });
const withFt = Flags.custom<string>({ parse: async (value) => parseWithFt('--with-ft', value) });
const display = Flags.custom<Display>({ parse: async (value) => parseDisplay('--display', value) });

const alloc = Flags.custom<readonly string[]>({ parse: async (value) => parseAlloc('--alloc', value) });

export const FLAGS = {
  np: count('-n')({ char: 'n', helpValue: 'N', description: 'number of ranks of the program' }),
  ppn: count('--ppn')({ helpValue: 'N', description: 'ranks on each host; short for --map-by ppr:N' }),
  host: text('--host')({
    multiple: true,
    helpValue: 'LIST',
    description: "hosts and their slots: a:2,b or n[01-16]; without it, those of host files, of the batch job, or "
      + 'this machine',
  }),
  hostfile: text('--hostfile')({
    multiple: true,
    helpValue: 'FILE',
    description: 'file that names hosts, one per line: n1 slots=4; - is standard input',
  }),
  exclude: text('--exclude')({ multiple: true, helpValue: 'LIST', description: 'hosts to leave out' }),
  alloc: alloc({
    multiple: true,
    helpValue: 'OPTIONS',
    description:
      "ask Slurm for hosts, and give them back at the end; with options of salloc: --alloc='-p debug -t 10' "
      + '(docs/slurm.md)',
  }),
  spares: count('--spares')({
    helpValue: 'N',
    description: 'keep the last N hosts as spares, for others that do not come up or are lost',
  }),
  nodes: nodes({
    char: 'N',
    helpValue: 'N',
    description: 'use the first N of the hosts, spares besides; as -N in a Slurm job only',
  }),
  'map-by': mapBy({
    helpValue: 'RULE',
    description: 'slot: fill a host, then the next; node: one per host in turn; ppr:N: N on each host (default slot); '
      + 'socket, numa, l3cache: as slot, and by these within each host (docs/binding.md)',
  }),
  'bind-to': bindTo({
    helpValue: 'WHAT',
    description: 'processors of each rank: core, hwthread, or all of its socket, numa or l3cache; none (default)',
  }),
  'cpus-per-rank': count('--cpus-per-rank')({
    helpValue: 'N',
    description: 'cores of each rank, to which it is bound; hardware threads with --bind-to hwthread',
  }),
  'report-bindings': Flags.boolean({ description: 'each rank says on standard error what it is bound to' }),
  oversubscribe: Flags.boolean({ description: 'allow more ranks than the slots that were named' }),
  wdir: text('--wdir')({ helpValue: 'DIR', description: 'working directory of the program' }),
  env: text('-x')({
    char: 'x',
    multiple: true,
    helpValue: 'NAME[=VALUE]',
    description: "variable for the program; NAME alone or a pattern ('OMP_*') takes the caller's value",
  }),
  export: list('--export')({
    multiple: true,
    helpValue: 'LIST',
    description:
      "caller's variables that programs get: all, none, or names and NAME=VALUE; default: all but those of this "
      + 'machine or session, and secrets',
  }),
  unset: text('--unset')({
    multiple: true,
    helpValue: 'NAME',
    description: "variable, or pattern, of the caller's that programs do not get",
  }),
  launcher: text('--launcher')({
    helpValue: 'NAME',
    description: 'how agents are started on hosts: local, ssh, slurm; short for --mca launcherproc=NAME',
  }),
  overlay: text('--overlay')({
    helpValue: 'TOPOLOGY',
    description:
      'link the agents beside the tree, too, so that more of them may die: bmg, mesh:wrap=true, tree:arity=4 '
      + '(docs/overlay.md); short for --mca overlay.topology=',
  }),
  mca: pair({
    multiple: true,
    helpValue: 'KEY=VALUE',
    description: 'sets a parameter; `stci info` lists them all',
  }),
  am: text('--am')({ multiple: true, helpValue: 'FILE', description: 'file of parameters, key = value a line' }),
  plugin: text('--plugin')({
    multiple: true,
    helpValue: 'PATH',
    description: 'package whose components are added, by directory or name (docs/plugins.md)',
  }),
  'on-failure': onFailure({
    helpValue: 'POLICY',
    description:
      'abort: end the job at the first failure (default); continue: let the rest run; notify: and tell it; '
      + 'restart[:N]: start what failed again; or by kind: tool=restart:3,host=continue',
  }),
  client: Flags.boolean({
    description: 'let programs use the client library (docs/client.md); short for --mca client.enable=true',
  }),
  mpi: mpi({
    helpValue: 'PROTOCOL',
    description:
      'protocol that MPI libraries are offered: auto is all (default), pmi1 is for MPICH, pmix for Open MPI, or none '
      + '(docs/mpi.md); short for --mca pmi=',
  }),
  'with-ft': withFt({
    helpValue: 'ulfm',
    description:
      'MPI programs go on after the loss of ranks, of which Open MPI 5 is told (docs/mpi.md); as --on-failure notify',
  }),
  'on-launch-failure': launchFailure({
    helpValue: 'POLICY',
    description:
      'host that does not come up: abort (default) ends all, retry[:N] starts it again, spare takes a spare host, '
      + 'shrink runs without it; short for --mca errmgr.launch=',
  }),
  'min-hosts': count('--min-hosts')({
    helpValue: 'N',
    description: 'run without hosts that do not come up, if N do; implies --on-launch-failure shrink',
  }),
  strict: Flags.boolean({
    description: 'end with 197 if hosts that did not come up were left out, whatever the ranks came to',
  }),
  timeout: duration('--timeout')({
    helpValue: 'TIME',
    description: 'end the job after this time: 10 or 10s, 5m, 250ms; exit code 199',
  }),
  each: Flags.boolean({
    description:
      'run the program on each host by itself, as pdsh does: as hosts come up, whatever fails, with a summary',
  }),
  fanout: count('--fanout')({ helpValue: 'N', description: 'with --each: hosts at a time (default 64)' }),
  hosttimeout: duration('--hosttimeout')({
    helpValue: 'TIME', description: 'with --each: a host is given up after this time, login included',
  }),
  'launch-timeout': duration('--launch-timeout')({
    helpValue: 'TIME',
    description: 'all ranks must run within this time (default 60s); exit code 198',
  }),
  session: text('--session')({
    helpValue: 'NAME',
    description: "run in a session that 'stci start' made (default: STCI_SESSION), or none",
  }),
  wait: Flags.boolean({ description: 'wait for slots that other jobs of the session have' }),
  detach: Flags.boolean({
    description: "print the job's name and leave it to its session, or to one of its own; 'stci attach' shows it",
  }),
  stdin: stdin({
    helpValue: 'WHO',
    description: 'who reads standard input: a rank, all or none (default 0)',
  }),
  pty: Flags.boolean({
    description: "run the program, one rank, on a terminal that is the user's: for a shell, an editor, top",
  }),
  tag: tag({
    char: 'l',
    helpValue: 'FORMAT',
    description: 'mark each line: rank gives [3], host gives [host], full gives [host:3:stdout], none nothing',
  }),
  color: color({
    helpValue: 'WHEN',
    description: 'tags and errors in colour: auto (default: on terminals, unless NO_COLOR is set), always or never',
  }),
  timestamp: Flags.boolean({ description: 'put the time before each line, taken at the host where it was written' }),
  output: text('--output')({
    helpValue: 'TEMPLATE',
    description: 'write output to files instead, such as out/%h/%3r.%s; see docs/output.md',
  }),
  tee: Flags.boolean({ description: 'with --output: show the output as well' }),
  gather: Flags.boolean({ description: 'show output at the end, once for all ranks that wrote the same' }),
  json: Flags.boolean({ description: 'one JSON object per line for output and events, for programs' }),
  'exit-report': exitReport({
    helpValue: 'FORMAT[:FILE]',
    description: 'a row for each rank at the end, text or json, on standard error or in FILE',
  }),
  events: text('--events')({
    helpValue: 'FILE',
    description: 'events of the job as JSON lines in FILE, with their times; failures with all that is known of them',
  }),
  'forward-signals': text('--forward-signals')({
    helpValue: 'LIST',
    description: 'signals passed on to the ranks, instead of the usual ones, such as USR1,USR2; or none',
  }),
  display: display({
    helpValue: 'WHAT',
    description: 'print the map, the launch plan, or all, before the job runs',
  }),
  'dry-run': Flags.boolean({ description: 'print map and launch plan, start nothing' }),
  verbose: Flags.boolean({ char: 'v', description: 'print each step of the launch and of the job' }),
  quiet: Flags.boolean({ char: 'q', description: 'print errors only; no progress' }),
  version: Flags.boolean({ char: 'V', description: 'print the version' }),
  help: Flags.boolean({ char: 'h', description: 'print this help' }),
};

export type FlagName = keyof typeof FLAGS;

export const FLAG_NAMES = Object.keys(FLAGS) as readonly FlagName[];

export interface OptionFacts {
  readonly group: string;
  /** `program`: may differ between the programs of a job; else one value for all. */
  readonly scope: 'program' | 'job';
  /** Value when none is given; another is given after `=`. */
  readonly implied?: string;
}

const facts = (group: string, scope: 'program' | 'job' = 'job', implied?: string): OptionFacts => {
  return implied === undefined ? { group, scope } : { group, scope, implied };
};

export const GROUPS = ['Ranks and hosts', 'Program', 'Running', 'Output and input', 'Sessions', 'Other'] as const;

export const OPTION_FACTS: Readonly<Record<FlagName, OptionFacts>> = {
  np: facts(GROUPS[0], 'program'),
  ppn: facts(GROUPS[0]),
  host: facts(GROUPS[0], 'program'),
  hostfile: facts(GROUPS[0]),
  exclude: facts(GROUPS[0]),
  alloc: facts(GROUPS[0], 'job', ''),
  spares: facts(GROUPS[0]),
  nodes: facts(GROUPS[0]),
  'map-by': facts(GROUPS[0]),
  'bind-to': facts(GROUPS[0]),
  'cpus-per-rank': facts(GROUPS[0]),
  'report-bindings': facts(GROUPS[0]),
  oversubscribe: facts(GROUPS[0]),
  wdir: facts(GROUPS[1], 'program'),
  env: facts(GROUPS[1], 'program'),
  export: facts(GROUPS[1]),
  unset: facts(GROUPS[1]),
  launcher: facts(GROUPS[2]),
  overlay: facts(GROUPS[2]),
  mca: facts(GROUPS[2]),
  am: facts(GROUPS[2]),
  plugin: facts(GROUPS[2]),
  'on-failure': facts(GROUPS[2]),
  client: facts(GROUPS[2]),
  mpi: facts(GROUPS[2]),
  'with-ft': facts(GROUPS[2]),
  'on-launch-failure': facts(GROUPS[2]),
  'min-hosts': facts(GROUPS[2]),
  strict: facts(GROUPS[2]),
  timeout: facts(GROUPS[2]),
  each: facts(GROUPS[2]),
  fanout: facts(GROUPS[2]),
  hosttimeout: facts(GROUPS[2]),
  'launch-timeout': facts(GROUPS[2]),
  'forward-signals': facts(GROUPS[2]),
  display: facts(GROUPS[2]),
  'dry-run': facts(GROUPS[2]),
  session: facts(GROUPS[4]),
  wait: facts(GROUPS[4]),
  detach: facts(GROUPS[4]),
  stdin: facts(GROUPS[3]),
  pty: facts(GROUPS[3]),
  tag: facts(GROUPS[3], 'job', 'rank'),
  color: facts(GROUPS[3], 'job', 'always'),
  timestamp: facts(GROUPS[3]),
  output: facts(GROUPS[3]),
  tee: facts(GROUPS[3]),
  gather: facts(GROUPS[3]),
  json: facts(GROUPS[3]),
  'exit-report': facts(GROUPS[3], 'job', 'text'),
  events: facts(GROUPS[3]),
  verbose: facts(GROUPS[5]),
  quiet: facts(GROUPS[5]),
  version: facts(GROUPS[5]),
  help: facts(GROUPS[5]),
};

/** `-n/--np` where there is a letter, else `--name`: the option's name in messages. */
export function optionName(name: FlagName): string {
  const char = FLAGS[name].char;
  return char === undefined ? `--${name}` : `-${char}/--${name}`;
}
