/**
 * Command line → RunRequest, plain data. oclif's parser reads the values of each program's options; here they are
 * joined: options of the whole job may be given before any program, but not with different values.
 */

import { parse } from '@oclif/core/parser';
import type { TagMode } from '@stci/core/iof';
import { StciError, type MapBy, type StdinTo } from '@stci/interface';
import type { OptionDefault } from './defaults.js';
import type { ColorMode } from '../output/colors.js';
import { HOSTS_OF_SLURM } from '../alloc/salloc-options.js';
import { pluginPairs } from '../plugin/params.js';
import { FLAGS, OPTION_FACTS, optionName, type FlagName } from './flags.js';
import { scan, type ScannedContext } from './scan.js';
import { OptionValueError, type Display, type ExitReportRequest, type NodesRequest, type Pair } from './values.js';

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
  readonly mapBy: MapBy;
  readonly oversubscribe: boolean;
  /** `--mca` and its short forms, in order; `origin` is the option as written. */
  readonly mca: readonly (Pair & { readonly origin: string })[];
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
  readonly tag: TagMode;
  readonly color: ColorMode;
  readonly timestamp: boolean;
  readonly output?: string;
  readonly gather: boolean;
  readonly json: boolean;
  readonly exitReport?: ExitReportRequest;
  readonly events?: string;
  readonly verbose: boolean;
  readonly quiet: boolean;
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

type FlagValues = Awaited<ReturnType<typeof parseOptions>>;

async function parseOptions(argv: readonly string[]) {
  try {
    return (await parse([...argv], { flags: FLAGS, args: {}, strict: true, '--': false })).flags;
  } catch (thrown) {
    if (thrown instanceof OptionValueError) throw new StciError('STCI_USAGE', thrown.text);
    // oclif's own words, such as "Flag --wdir can only be specified once".
    const words = thrown instanceof Error ? thrown.message.split('\n', 1)[0] : String(thrown);
    throw new StciError('STCI_USAGE', `${words}. See stcirun --help.`);
  }
}

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
  return parseOptions([word]).catch((thrown: unknown) => {
    if (!(thrown instanceof StciError)) throw thrown;
    throw new StciError('STCI_PARAM_INVALID', `${origin}: ${thrown.message}`);
  });
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
  if (program === '') throw new StciError('STCI_USAGE', "The program's name is empty.");
  return {
    program,
    args,
    ...(flags.np !== undefined && { count: flags.np }),
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
    ...(flags.nodes !== undefined && { nodes: flags.nodes }),
    mapBy: flags['map-by'] ?? (flags.ppn === undefined ? { by: 'slot' } : { by: 'ppr', perHost: flags.ppn }),
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
    stdin: flags.stdin ?? (readsHosts(flags) || flags.detach ? { to: 'none' } : { to: 'rank', rank: 0 }),
    tag: flags.tag ?? 'none',
    color: flags.color ?? 'auto',
    timestamp: flags.timestamp,
    ...(flags.output !== undefined && { output: flags.output }),
    gather: flags.gather,
    json: flags.json,
    ...(flags['exit-report'] !== undefined && { exitReport: flags['exit-report'] }),
    ...(flags.events !== undefined && { events: flags.events }),
    verbose: flags.verbose,
    quiet: flags.quiet,
  };
}

/** Whether standard input is a host file, so that ranks get none. */
function readsHosts(flags: FlagValues): boolean {
  return flags.hostfile?.includes('-') === true;
}

function mcaOf(flags: FlagValues): RunRequest['mca'] {
  const short = (option: string, key: string, value: string | undefined): RunRequest['mca'] => {
    return value === undefined ? [] : [{ key, value, origin: `--${option} ${value}` }];
  };
  const onFailure = flags['on-failure'];
  return [
    ...(flags.mca ?? []).map((pair) => ({ ...pair, origin: `--mca ${pair.key}=${pair.value}` })),
    ...short('launcher', 'launcherproc', flags.launcher),
    ...pluginPairs(flags.plugin),
    ...short('overlay', 'overlay.topology', flags.overlay),
    ...(onFailure?.pairs ?? []).map((pair) => ({ ...pair, origin: `--on-failure ${onFailure?.text}` })),
    ...(flags.client ? [{ key: 'client.enable', value: 'true', origin: '--client' }] : []),
    ...launchFailureOf(flags),
  ];
}

/** `--spares` and `--min-hosts` mean a policy of their own where none is named. */
function launchFailureOf(flags: FlagValues): RunRequest['mca'] {
  const given = flags['on-launch-failure'];
  const minHosts = flags['min-hosts'];
  const pairs: { key: string; value: string; origin: string }[] = [];
  const key = 'errmgr.launch';
  const least = `--min-hosts ${minHosts}`;
  if (given !== undefined) {
    const origin = `--on-launch-failure ${given.text}`;
    pairs.push({ key, value: given.policy, origin });
    if (given.count !== undefined) pairs.push({ key: `${key}.retries`, value: given.count, origin });
  } else if (!(flags.mca ?? []).some((pair) => pair.key === key)) {
    if (minHosts !== undefined) pairs.push({ key, value: 'shrink', origin: least });
    else if (flags.spares !== undefined) pairs.push({ key, value: 'spare', origin: `--spares ${flags.spares}` });
  }
  if (minHosts !== undefined) pairs.push({ key: `${key}.min`, value: String(minHosts), origin: least });
  return pairs;
}

type Conflict = readonly [a: string, b: string, why?: string];

const reasonOf = (why: string | undefined): string => (why === undefined ? '.' : `: ${why}. Leave one out.`);

/** Throws for options that cannot be combined, with the reason. */
function checkTogether(flags: FlagValues): void {
  const conflict = conflictOf(flags);
  if (conflict !== undefined) {
    const [a, b, why] = conflict;
    throw new StciError('STCI_USAGE', `${a} and ${b} cannot be combined${reasonOf(why)}`);
  }
  if (flags['on-launch-failure']?.policy === 'spare' && flags.spares === undefined) {
    throw new StciError('STCI_USAGE', '--on-launch-failure spare needs hosts to take: give --spares N as well.');
  }
  if (flags.hostfile?.indexOf('-') !== flags.hostfile?.lastIndexOf('-')) {
    throw new StciError('STCI_USAGE', 'Standard input can be read only once: give --hostfile - once.');
  }
}

function conflictOf(flags: FlagValues): Conflict | undefined {
  const { gather, json, tag, spares } = flags;
  const hasTag = tag !== undefined && tag !== 'none';
  const policy = flags['on-launch-failure'];
  const launch = `--on-launch-failure ${policy?.text}`;
  const isOther = (wanted: string): boolean => policy !== undefined && policy.policy !== wanted;
  const table: readonly (readonly [boolean, ...Conflict])[] = [
    [flags.ppn !== undefined && flags['map-by'] !== undefined, '--ppn', '--map-by', '--ppn N is --map-by ppr:N'],
    [flags.output !== undefined && gather, '--output', '--gather', 'files are already kept apart by rank'],
    [spares !== undefined && flags['min-hosts'] !== undefined, '--spares', '--min-hosts',
      'one replaces hosts that do not come up, the other runs without them'],
    [spares !== undefined && isOther('spare'), '--spares', launch, 'spares are used by policy spare alone'],
    [flags['min-hosts'] !== undefined && isOther('shrink'), '--min-hosts', launch, 'it is the bound of policy shrink'],
    [json && gather, '--json', '--gather', 'JSON lines carry their rank'],
    [json && hasTag, '--json', '--tag', 'JSON lines carry their rank'],
    [json && flags.timestamp, '--json', '--timestamp', 'JSON lines carry their time'],
    [gather && hasTag, '--gather', '--tag', 'equal output is shown once, under a head that names its ranks'],
    [gather && flags.timestamp, '--gather', '--timestamp', 'lines of several ranks are shown once, without a time'],
    [readsHosts(flags) && flags.stdin !== undefined && flags.stdin.to !== 'none', '--hostfile -', '--stdin',
      'standard input holds the hosts'],
    [flags.verbose && flags.quiet, '--verbose', '--quiet'],
    ...sessionConflicts(flags),
    ...allocationConflicts(flags),
  ];
  return table.find(([applies]) => applies)?.slice(1) as Conflict | undefined;
}

/** Options that a session has decided, and those that are for who shows the output. */
function sessionConflicts(flags: FlagValues): readonly (readonly [boolean, ...Conflict])[] {
  const isIn = flags.session !== undefined && flags.session !== 'none';
  const given = (name: FlagName): boolean => {
    const value = flags[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  };
  const OF_SESSION = ['launcher', 'spares', 'min-hosts', 'on-launch-failure'] as const;
  const OF_OUTPUT = ['tag', 'timestamp', 'output', 'gather', 'json', 'exit-report', 'events'] as const;
  return [
    ...OF_SESSION.map((name): readonly [boolean, ...Conflict] =>
      [isIn && given(name), '--session', `--${name}`, 'it is decided by stci start']),
    ...OF_OUTPUT.map((name): readonly [boolean, ...Conflict] =>
      [flags.detach && given(name), '--detach', `--${name}`, 'it is for stci attach']),
    [flags.detach && flags.stdin !== undefined && flags.stdin.to !== 'none', '--detach', '--stdin',
      'a detached job has no input'],
  ];
}

function allocationConflicts(flags: FlagValues): readonly (readonly [boolean, ...Conflict])[] {
  const isAsked = flags.alloc !== undefined;
  const { session } = flags;
  return [
    [isAsked && session !== undefined && session !== 'none', '--alloc', '--session', 'a session has its hosts'],
    [isAsked && mcaOf(flags).some(({ key, value }) => key === 'launcherproc' && value === 'local'),
      '--alloc', '--launcher local', 'all ranks would run here, and none on the hosts of the allocation'],
    ...HOSTS_OF_SLURM.map(([name, why]): readonly [boolean, ...Conflict] =>
      [isAsked && (flags[name]?.length ?? 0) > 0, '--alloc', `--${name}`, why]),
  ];
}
