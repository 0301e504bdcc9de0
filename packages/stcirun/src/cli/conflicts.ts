/** Options that cannot be combined, each with the reason. */

import { StciError } from '@stci/interface';
import { HOSTS_OF_SLURM } from '../alloc/salloc-options.js';
import { optionName, type FlagName } from './flags.js';
import { mcaOf } from './param-options.js';
import { readsHosts, type FlagValues } from './parse-options.js';
import { isInner } from './values.js';

export type Conflict = readonly [a: string, b: string, why?: string];

export const reasonOf = (why: string | undefined): string => (why === undefined ? '.' : `: ${why}. Leave one out.`);

/** Throws for options that cannot be combined, with the reason. */
export function checkTogether(flags: FlagValues): void {
  const conflict = conflictOf(flags);
  if (conflict !== undefined) {
    const [a, b, why] = conflict;
    throw new StciError('STCI_USAGE', `${a} and ${b} cannot be combined${reasonOf(why)}`);
  }
  if (flags['on-launch-failure']?.policy === 'spare' && flags.spares === undefined) {
    throw new StciError('STCI_USAGE', '--on-launch-failure spare needs hosts to take: give --spares N as well.');
  }
  if (flags.tee && flags.output === undefined) {
    throw new StciError('STCI_USAGE', '--tee shows what --output writes: give that as well.');
  }
  const ofEach = (['fanout', 'hosttimeout'] as const).find((name) => !flags.each && flags[name] !== undefined);
  if (ofEach !== undefined) throw new StciError('STCI_USAGE', `--${ofEach} is for --each: give that as well.`);
  if (flags.hostfile?.indexOf('-') !== flags.hostfile?.lastIndexOf('-')) {
    throw new StciError('STCI_USAGE', 'Standard input can be read only once: give --hostfile - once.');
  }
}

export function conflictOf(flags: FlagValues): Conflict | undefined {
  const { gather, json, tag, spares, 'map-by': mapBy } = flags;
  const hasTag = tag !== undefined && tag !== 'none';
  const policy = flags['on-launch-failure'];
  const launch = `--on-launch-failure ${policy?.text}`;
  const isOther = (wanted: string): boolean => policy !== undefined && policy.policy !== wanted;
  const table: readonly (readonly [boolean, ...Conflict])[] = [
    [flags.ppn !== undefined && mapBy !== undefined && !isInner(mapBy), '--ppn', '--map-by',
      '--ppn N is --map-by ppr:N, and goes with socket, numa and l3cache alone'],
    ...bindingConflicts(flags),
    [flags.output !== undefined && gather, '--output', '--gather', 'files are already kept apart by rank'],
    [spares !== undefined && flags['min-hosts'] !== undefined, '--spares', '--min-hosts',
      'one replaces hosts that do not come up, the other runs without them'],
    [flags['min-hosts'] !== undefined && isOther('shrink'), '--min-hosts', launch, 'it is the bound of policy shrink'],
    [json && gather, '--json', '--gather', 'JSON lines carry their rank'],
    [json && hasTag, '--json', '--tag', 'JSON lines carry their rank'],
    [json && flags.timestamp, '--json', '--timestamp', 'JSON lines carry their time'],
    [gather && hasTag, '--gather', '--tag', 'equal output is shown once, under a head that names its ranks'],
    [gather && flags.timestamp, '--gather', '--timestamp', 'lines of several ranks are shown once, without a time'],
    [readsHosts(flags) && flags.stdin !== undefined && flags.stdin.to !== 'none', '--hostfile -', '--stdin',
      'standard input holds the hosts'],
    [flags['with-ft'] !== undefined && isIntolerant(flags), '--with-ft', `--on-failure ${flags['on-failure']?.text}`,
      'survivors go on with notify or continue'],
    [flags.verbose && flags.quiet, '--verbose', '--quiet'],
    ...ptyConflicts(flags),
    ...sessionConflicts(flags),
    ...allocationConflicts(flags),
    ...eachConflicts(flags),
  ];
  return table.find(([applies]) => applies)?.slice(1) as Conflict | undefined;
}

/** A policy by which a rank that fails ends the job, or is started again. */
function isIntolerant({ 'on-failure': policy }: FlagValues): boolean {
  return policy?.pairs.some(({ key, value }) =>
    (key === 'errmgr' || key === 'errmgr.tool') && value !== 'notify' && value !== 'continue') === true;
}

/** Ranks that share processors are not bound to them. */
function bindingConflicts(flags: FlagValues): readonly (readonly [boolean, ...Conflict])[] {
  const { oversubscribe } = flags;
  const [to, cpus, within] = [flags['bind-to'], flags['cpus-per-rank'], flags['map-by']?.within ?? 'slot'];
  const why = 'ranks that share processors are not bound';
  const hasNumber = to === undefined || to === 'core' || to === 'hwthread';
  return [
    [oversubscribe && to !== undefined && to !== 'none', '--oversubscribe', `--bind-to ${to}`, why],
    [oversubscribe && to !== 'none' && cpus !== undefined, '--oversubscribe', '--cpus-per-rank', why],
    [oversubscribe && to !== 'none' && within !== 'slot', '--oversubscribe', `--map-by ${within}`, why],
    [cpus !== undefined && !hasNumber, '--cpus-per-rank', `--bind-to ${to}`,
      'a number of processors is one of cores or hardware threads'],
  ];
}

/** Options that a session has decided, and those that are for who shows the output. */
function sessionConflicts(flags: FlagValues): readonly (readonly [boolean, ...Conflict])[] {
  const isIn = flags.session !== undefined && flags.session !== 'none';
  const given = (name: FlagName): boolean => {
    const value = flags[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  };
  const OF_SESSION = ['launcher', 'spares', 'min-hosts', 'on-launch-failure', 'strict'] as const;
  const OF_OUTPUT = [
    'tag', 'timestamp', 'output', 'gather', 'json', 'exit-report', 'events', 'color', 'forward-signals',
  ] as const;
  return [
    ...OF_SESSION.map((name): readonly [boolean, ...Conflict] =>
      [isIn && given(name), '--session', `--${name}`, 'it is decided by stci start']),
    ...OF_OUTPUT.map((name): readonly [boolean, ...Conflict] =>
      [flags.detach && given(name), '--detach', `--${name}`, 'it is for stci attach']),
    [flags.detach && flags.stdin !== undefined && flags.stdin.to !== 'none', '--detach', '--stdin',
      'a detached job has no input'],
    [flags.detach && flags.strict, '--detach', '--strict', 'it decides the exit code of stcirun, which leaves before'],
  ];
}

/** A terminal shows what its program writes, as it comes. */
function ptyConflicts(flags: FlagValues): readonly (readonly [boolean, ...Conflict])[] {
  const { pty, tag } = flags;
  const ofOutput = ['timestamp', 'output', 'gather', 'json'] as const;
  const why = 'the program has the terminal';
  return [
    ...ofOutput.map((name): readonly [boolean, ...Conflict] =>
      [pty && flags[name] !== undefined && flags[name] !== false, '--pty', `--${name}`, why]),
    [pty && tag !== undefined && tag !== 'none', '--pty', '--tag', why],
    [pty && flags.stdin !== undefined, '--pty', '--stdin', 'the one rank reads the terminal'],
    [pty && readsHosts(flags), '--pty', '--hostfile -', 'standard input is the terminal'],
    [pty && flags.detach, '--pty', '--detach', 'a detached job has no input'],
    [pty && flags.each, '--pty', '--each', 'the terminal is for one rank'],
  ];
}

/** What is of one job over all hosts. */
function eachConflicts(flags: FlagValues): readonly (readonly [boolean, ...Conflict])[] {
  const { each, stdin } = flags;
  const ofOne = ['np', 'map-by', 'spares', 'min-hosts', 'on-launch-failure', 'strict', 'overlay', 'client', 'session',
    'wait', 'detach', 'exit-report', 'events', 'timeout', 'display', 'dry-run'] as const;
  const given = (name: FlagName): boolean => flags[name] !== undefined && flags[name] !== false;
  return [
    ...ofOne.map((name): readonly [boolean, ...Conflict] =>
      [each && given(name), '--each', optionName(name), 'with --each every host has a job of its own']),
    [each && stdin !== undefined && stdin.to !== 'none', '--each', '--stdin', 'its programs have no input'],
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
