/**
 * Command line → RunRequest, plain data. oclif's parser reads the values of each program's options; here they are
 * joined: options of the whole job may be given before any program, but not with different values.
 */

import type { TagMode } from '@stci/core/iof';
import { StciError, type MapBy, type StdinTo } from '@stci/interface';
import type { OptionDefault } from './defaults.js';
import type { ColorMode } from '../process/colors.js';
import { pluginPairs } from '../plugin/params.js';
import { checkTogether, conflictOf, reasonOf } from './conflicts.js';
import { OPTION_FACTS, optionName, type FlagName } from './flags.js';
import { mcaOf, type GivenPair } from './param-options.js';
import { parseOptions, readsHosts, type FlagValues } from './parse-options.js';
import { scan, type ScannedContext } from './scan.js';
import type { Display, ExitReportRequest, NodesRequest } from './values.js';

export interface ProgramRequest {
  readonly program: string;
  readonly args: readonly string[];
  readonly count?: number;
  /** Each `--host` of this program. */
  readonly hosts: readonly string[];
  readonly wdir?: string;
  /** Each `-x`. */
  readonly exports: readonly string[];
}

/** What the user asked for, before files, hosts and parameters are looked at. */
export interface RunRequest {
  readonly programs: readonly ProgramRequest[];
  readonly hostfiles: readonly string[];
  readonly exclude: readonly string[];
  /** Words of all `--alloc`: options of salloc. */
  readonly alloc?: readonly string[];
  /** Number of last hosts of the allocation that are used only where others do not come up. */
  readonly spares: number;
  readonly nodes?: NodesRequest;
  /** Of `--min-hosts`: at most the number of hosts. */
  readonly minHosts?: number;
  readonly strict: boolean;
  /** Of `--each`. */
  readonly each?: EachRequest;
  readonly mapBy: MapBy;
  readonly oversubscribe: boolean;
  /** `--mca` and its short forms, in order; `origin` is the option as written. */
  readonly mca: readonly GivenPair[];
  readonly am: readonly string[];
  /** Items of all `--export`. */
  readonly exports: readonly string[];
  readonly unset: readonly string[];
  readonly timeoutMs?: number;
  readonly launchTimeoutMs?: number;
  readonly forwardSignals?: string;
  readonly display?: Display;
  /** Of `--session`; `none`: none. */
  readonly session?: string;
  readonly wait: boolean;
  readonly detach: boolean;
  readonly dryRun: boolean;
  readonly stdin: StdinTo;
  /** The one rank has the user's terminal. */
  readonly pty: boolean;
  readonly tag: TagMode;
  readonly color: ColorMode;
  readonly timestamp: boolean;
  readonly output?: string;
  /** Output is shown, too. */
  readonly tee: boolean;
  readonly gather: boolean;
  readonly json: boolean;
  readonly exitReport?: ExitReportRequest;
  readonly events?: string;
  readonly verbose: boolean;
  readonly quiet: boolean;
}

export interface EachRequest {
  /** Hosts at a time. */
  readonly fanout: number;
  /** Of each host, from the start of its login. */
  readonly hostTimeoutMs?: number;
}

export type CommandLine =
  /** With what says which plugins there are. */
  | { readonly kind: 'help'; readonly mca: RunRequest['mca']; readonly am: readonly string[] }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'run';
      /** Of the command line alone. */
      readonly request: RunRequest;
      /** With what the parameters say of options that were not given. Throws STCI_PARAM_INVALID. */
      withDefaults(defaults: readonly OptionDefault[]): Promise<RunRequest>;
    };

export function parseCommandLine(argv: readonly string[]): Promise<CommandLine> {
  return parseContexts(scan(argv));
}

/** A command line whose words are told apart. */
export async function parseContexts(contexts: readonly ScannedContext[]): Promise<CommandLine> {
  const all: FlagValues[] = [];
  for (const { options } of contexts) {
    if (options.filter((option) => option === '--verbose').length > 1) {
      throw new StciError('STCI_USAGE', '-v/--verbose is given twice, but has one level. STCI_DEBUG=1 shows more.');
    }
    all.push(await parseOptions(options));
  }
  const job = mergeJob(all);
  if (job.help) return { kind: 'help', mca: [...pluginPairs(job.plugin)], am: job.am ?? [] };
  if (job.version) return { kind: 'version' };
  if (job.each && contexts.length > 1) {
    throw new StciError('STCI_USAGE', '--each runs one program, and several are given.');
  }
  const programs = contexts.map(({ command }, i) => programOf(command, i, all[i] as FlagValues));
  const requestOf = (flags: FlagValues): RunRequest => ({ programs, ...jobPart(flags) });
  return {
    kind: 'run',
    request: requestOf(job),
    withDefaults: async (defaults) => requestOf(await addDefaults(job, programs, defaults)),
  };
}

/** Throws STCI_PARAM_INVALID for a value that the option would refuse. */
export async function parseDefault({ word, origin }: OptionDefault): Promise<FlagValues> {
  const flags = await parseOptions([word]).catch((thrown: unknown) => {
    if (!(thrown instanceof StciError)) throw thrown;
    throw new StciError('STCI_PARAM_INVALID', `${origin}: ${thrown.message}`);
  });
  // Parameters are resolved before options have their defaults.
  const within = flags['map-by']?.within ?? 'slot';
  if (within === 'slot') return flags;
  const text = `${origin}: ${word}: places within a host have a parameter of their own. Write binding.map = ${within}.`;
  throw new StciError('STCI_PARAM_INVALID', text);
}

/**
 * Each default, unless the command line gives the option, or one that it cannot be combined with. Two defaults that
 * cannot be combined are refused: their precedence is undefined.
 */
async function addDefaults(
  given: FlagValues,
  programs: readonly ProgramRequest[],
  defaults: readonly OptionDefault[],
): Promise<FlagValues> {
  let flags = given;
  const used: OptionDefault[] = [];
  for (const option of defaults) {
    const { name } = option;
    const parsed = await parseDefault(option);
    const before = given[name];
    const isGiven = Array.isArray(before) ? before.length > 0 : before !== undefined && before !== false;
    const hasHosts = name === 'hostfile' && programs.some(({ hosts }) => hosts.length > 0);
    const own = { [name]: parsed[name] };
    if (isGiven || hasHosts || conflictOf({ ...given, ...own }) !== undefined) continue;
    for (const other of used) {
      const conflict = conflictOf({ ...given, [other.name]: flags[other.name], ...own });
      if (conflict !== undefined) refuseDefaults(other, option, conflict[2]);
    }
    flags = { ...flags, ...own };
    used.push(option);
  }
  return flags;
}

function refuseDefaults(a: OptionDefault, b: OptionDefault, why: string | undefined): never {
  const both = `${a.word}, ${a.origin}, and ${b.word}, ${b.origin},`;
  throw new StciError('STCI_PARAM_INVALID', `Defaults ${both} cannot be combined${reasonOf(why)}`);
}

/** Options of the job from all contexts: lists are joined, single values must agree. */
function mergeJob(all: readonly FlagValues[]): FlagValues {
  const merged: Record<string, unknown> = { ...(all[0] as FlagValues) };
  for (const flags of all.slice(1)) {
    for (const [key, value] of Object.entries(flags)) {
      const name = key as FlagName;
      if (value === undefined || OPTION_FACTS[name].scope === 'program') continue;
      const before = merged[name];
      if (Array.isArray(value)) merged[name] = [...(Array.isArray(before) ? before : []), ...value];
      else if (before === undefined || before === false) merged[name] = value;
      else if (JSON.stringify(before) !== JSON.stringify(value) && value !== false) contradiction(name);
    }
  }
  return merged as FlagValues;
}

function contradiction(name: FlagName): never {
  const text = `${optionName(name)} is for the whole job, but two programs were given different values. Give it once.`;
  throw new StciError('STCI_USAGE', text);
}

function programOf(command: readonly string[], index: number, flags: FlagValues): ProgramRequest {
  const [program, ...args] = command;
  if (program === undefined) {
    const text = index === 0
      ? 'No program to run. Write: stcirun [options] program [arguments]'
      : "No program after ':'. A word ':' begins the next program; to pass ':' to a program, write '\\:'.";
    throw new StciError('STCI_USAGE', text);
  }
  const count = flags.np ?? (flags.pty && flags.ppn === undefined && flags['map-by'] === undefined ? 1 : undefined);
  if (program === '') throw new StciError('STCI_USAGE', "The program's name is empty.");
  return {
    program,
    args,
    ...(count !== undefined && { count }),
    hosts: flags.host ?? [],
    ...(flags.wdir !== undefined && { wdir: flags.wdir }),
    exports: flags.env ?? [],
  };
}

function jobPart(flags: FlagValues): Omit<RunRequest, 'programs'> {
  checkTogether(flags);
  return {
    hostfiles: flags.hostfile ?? [],
    exclude: flags.exclude ?? [],
    ...(flags.alloc !== undefined && { alloc: flags.alloc.flat() }),
    spares: flags.spares ?? 0,
    ...(flags['min-hosts'] !== undefined && { minHosts: flags['min-hosts'] }),
    strict: flags.strict,
    ...(flags.each && { each: eachOf(flags) }),
    ...(flags.nodes !== undefined && { nodes: flags.nodes }),
    mapBy: mapByOf(flags),
    oversubscribe: flags.oversubscribe,
    mca: mcaOf(flags),
    am: flags.am ?? [],
    exports: (flags.export ?? []).flatMap((text) => text.split(',')),
    unset: flags.unset ?? [],
    ...(flags.timeout !== undefined && { timeoutMs: flags.timeout }),
    ...(flags['launch-timeout'] !== undefined && { launchTimeoutMs: flags['launch-timeout'] }),
    ...(flags['forward-signals'] !== undefined && { forwardSignals: flags['forward-signals'] }),
    ...(flags.display !== undefined && { display: flags.display }),
    dryRun: flags['dry-run'],
    ...(flags.session !== undefined && { session: flags.session }),
    wait: Boolean(flags.wait),
    detach: Boolean(flags.detach),
    stdin: flags.stdin ?? (readsHosts(flags) || flags.detach || flags.each ? { to: 'none' } : { to: 'rank', rank: 0 }),
    pty: flags.pty,
    tag: flags.tag ?? (flags.each && !flags.json && !flags.gather && flags.output === undefined ? 'host' : 'none'),
    color: flags.color ?? 'auto',
    timestamp: flags.timestamp,
    ...(flags.output !== undefined && { output: flags.output }),
    tee: flags.tee,
    gather: flags.gather,
    json: flags.json,
    ...(flags['exit-report'] !== undefined && { exitReport: flags['exit-report'] }),
    ...(flags.events !== undefined && { events: flags.events }),
    verbose: flags.verbose,
    quiet: flags.quiet,
  };
}

/** Hosts at a time, as clush has. */
const FANOUT = 64;

function eachOf({ fanout = FANOUT, hosttimeout }: FlagValues): EachRequest {
  return { fanout, ...(hosttimeout !== undefined && { hostTimeoutMs: hosttimeout }) };
}

function mapByOf({ ppn, each, 'map-by': given }: FlagValues): MapBy {
  return ppn === undefined && !each ? given?.mapBy ?? { by: 'slot' } : { by: 'ppr', perHost: ppn ?? 1 };
}
