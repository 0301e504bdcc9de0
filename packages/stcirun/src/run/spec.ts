/** RunRequest → JobSpec: host files are read, hosts allocated, the environment and directories settled. */

import { counted, expandHostlist, parseHostfile, validateJob } from '@stci/core';
import type { HostStatus } from '@stci/core/session';
import { StciError, type AllocatedJob, type AppSpec, type HostSpec } from '@stci/interface';
import { exportedVariables, toolEnvironment } from '../cli/environment.js';
import type { ProgramRequest, RunRequest } from '../cli/parse.js';
import { NODES_LETTER } from '../cli/values.js';
import { hostState } from '../session/ask.js';
import { allocateHosts, readHostfile, type HostPlace } from './allocate-hosts.js';
import { removed, resolveFrom } from '../files/caller-directory.js';

/** Where a job is asked for; a session has its hosts. */
export type Place = Pick<HostPlace, 'wdir' | 'env'>;

/** Hosts that a message names. */
const HOSTS_TOLD = 4;
/** Where the user names no `--launch-timeout`: the larger one, for many hosts take their time. */
const LAUNCH_TIMEOUT_MS = 60_000;
const LAUNCH_TIMEOUT_PER_HOST_MS = 500;

/** Throws for anything that makes the job impossible, before something is started. */
export function makeJobSpec(
  request: RunRequest,
  place: HostPlace,
): { readonly spec: AllocatedJob; readonly spares: readonly HostSpec[] } {
  const { hostfiles: hostfile, exclude } = request;
  checkNodes(request.nodes, place.env.variables);
  const all = allocateHosts({ host: request.programs.flatMap(({ hosts }) => hosts), hostfile, exclude }, place);
  const { hosts, spares } = chooseNodes(all, request);
  const single = request.programs.length === 1;
  const hostsOf = (program: ProgramRequest): readonly number[] | undefined =>
    (single ? undefined : ownHosts(program, hosts));
  return { spec: makeSpec(request, place, hosts, hostsOf), spares };
}

/**
 * A job on the hosts of a session, or on those of them that `--host`, `--hostfile` and `--exclude` leave. Where they
 * leave all, the spec names none: while the job waits there may come more.
 */
export function makeSessionSpec(request: RunRequest, place: Place, status: readonly HostStatus[]): AllocatedJob {
  const hosts = status.map(({ spec }) => spec);
  const names = new Set(status.filter(({ state }) => state !== 'left').map(({ spec }) => spec.name));
  for (const { name, slots } of request.programs.flatMap((program) => program.hosts).flatMap(hostItems)) {
    if (!names.has(name)) throw notOfSession('--host', name);
    if (slots === undefined) continue;
    const text = `--host ${name}:${slots}: the slots are the session's. Write ${name}, and -n for the number of ranks.`;
    throw new StciError('STCI_USAGE', text);
  }
  const files = request.hostfiles.map((name) => readHostfile(place.wdir, name));
  const filed = new Set(files.flatMap(({ name, text }) => parseHostfile(name, text).map((host) => host.name)));
  for (const name of filed) if (!names.has(name)) throw notOfSession('--hostfile', name);
  const excluded = new Set(request.exclude.flatMap(hostItems).map(({ name }) => name));
  const isChosen = ({ name }: HostSpec): boolean => (filed.size === 0 || filed.has(name)) && !excluded.has(name);
  const chosen = hosts.flatMap((host, index) => (isChosen(host) ? [index] : []));
  if (chosen.length === 0) throw new StciError('STCI_HOST_UNKNOWN', 'No host of the session is left for the job.');
  const { nodes } = request;
  if (nodes === undefined) return makeSpec(request, place, hosts, hostsAmong(chosen, hosts));
  checkNodes(nodes, place.env.variables);
  const usable = chosen.filter((host) => isHostUsable(status[host] as HostStatus));
  if (nodes.count > usable.length) throw tooManyNodes(nodes, usable.length, 0);
  return makeSpec(request, place, hosts, hostsAmong(usable.slice(0, nodes.count), hosts));
}

/** Hosts of a program among the chosen ones, or all of them; undefined where these are all of the session. */
function hostsAmong(
  chosen: readonly number[], hosts: readonly HostSpec[],
): (program: ProgramRequest) => readonly number[] | undefined {
  return (program) => {
    const own = ownHosts(program, hosts)?.filter((host) => chosen.includes(host));
    return own ?? (chosen.length === hosts.length ? undefined : chosen);
  };
}

function notOfSession(option: string, name: string): StciError {
  return new StciError('STCI_HOST_UNKNOWN', `${option}: host ${name} is not one of the session's.`);
}

function hostItems(list: string): ReturnType<typeof expandHostlist> {
  return expandHostlist(list, { name: '--host' });
}

function makeSpec(
  request: RunRequest,
  place: Place,
  hosts: readonly HostSpec[],
  hostsOf: (program: ProgramRequest) => readonly number[] | undefined,
): AllocatedJob {
  const spec: AllocatedJob = {
    apps: request.programs.map((program) => makeApp(program, hostsOf(program), place)),
    hosts,
    mapBy: request.mapBy,
    oversubscribe: Boolean(request.oversubscribe),
    env: toolEnvironment(place.env.variables, request),
    wdir: place.wdir ?? anyDirectory(request.programs),
    stdin: request.stdin,
    ...(request.timeoutMs !== undefined && { timeoutMs: request.timeoutMs }),
    launchTimeoutMs: request.launchTimeoutMs ?? Math.max(LAUNCH_TIMEOUT_MS, hosts.length * LAUNCH_TIMEOUT_PER_HOST_MS),
  };
  validateJob(spec);
  return spec;
}

/** A session's job as it is mapped now: on the hosts that are up, or coming up. */
export function onHostsNow(spec: AllocatedJob, status: readonly HostStatus[]): AllocatedJob {
  const all = [...spec.hosts.keys()];
  const isUsable = (host: number): boolean => isHostUsable(status[host] as HostStatus);
  if (all.every(isUsable)) return spec;
  const apps = spec.apps.map((app) => ({ ...app, hosts: (app.hosts ?? all).filter(isUsable) }));
  const lacking = spec.apps.find((_app, index) => apps[index]?.hosts.length === 0);
  if (lacking === undefined) return { ...spec, apps };
  const wanted = (lacking.hosts ?? all).map((host) => status[host] as HostStatus);
  const hosts = wanted.slice(0, HOSTS_TOLD).map((host) => `${host.spec.name} (${hostState(host)})`).join(', ');
  const more = wanted.length > HOSTS_TOLD ? ` and ${wanted.length - HOSTS_TOLD} more` : '';
  const text = `No host for program '${lacking.program}' is up: ${hosts}${more}. `
    + "'stci ps' says why; 'stci add-hosts' starts lost ones again.";
  throw new StciError('STCI_HOST_UNKNOWN', text);
}

function isHostUsable({ state, isDraining, isRestarting }: HostStatus): boolean {
  return isRestarting || (!isDraining && state !== 'left' && state !== 'failed' && state !== 'fenced');
}

/** Inside of a Slurm job `-N` is srun's; elsewhere it may be Open MPI's. Throws STCI_USAGE. */
export function checkNodes(nodes: RunRequest['nodes'], variables: Readonly<Record<string, string>>): void {
  if (nodes?.option !== NODES_LETTER || (variables['SLURM_JOB_ID'] ?? '') !== '') return;
  const { count } = nodes;
  const text = `-N ${count} can be read in two ways outside of a Slurm job. For a number of hosts, as srun has it, `
    + `write --nodes ${count}; for ranks on each host, as Open MPI has it, --ppn ${count}.`;
  throw new StciError('STCI_USAGE', text);
}

/** The first hosts, where a number of them is asked for; behind them the spares. Checks that there are enough. */
export function chooseNodes(
  available: readonly HostSpec[],
  { nodes, spares, minHosts }: Pick<RunRequest, 'nodes' | 'spares' | 'minHosts'>,
): Record<'hosts' | 'spares', readonly HostSpec[]> {
  const wanted = nodes === undefined ? available.length : nodes.count + spares;
  if (wanted > available.length) throw tooManyNodes(nodes, available.length, spares);
  const all = available.slice(0, wanted);
  const left = all.length - spares;
  const number = counted(all.length, 'host');
  if (left < 1) {
    const text = `--spares ${spares}: the job has ${number}; at least one host must not be a spare.`;
    throw new StciError('STCI_HOST_UNKNOWN', text);
  }
  if (minHosts !== undefined && minHosts > left) {
    const text = `--min-hosts ${minHosts}: the job has ${number}. Name more, or ask for less.`;
    throw new StciError('STCI_HOST_UNKNOWN', text);
  }
  return { hosts: all.slice(0, left), spares: all.slice(left) };
}

function tooManyNodes(nodes: RunRequest['nodes'], available: number, spares: number): StciError {
  const { option, count } = nodes ?? { option: '--nodes', count: 0 };
  const most = available - spares;
  const besides = spares > 0 ? ` and --spares ${spares}` : '';
  const remedy = most >= 1 ? `Ask for at most ${option} ${most}${besides}.` : 'Ask for fewer spares.';
  const there = `there ${available === 1 ? 'is' : 'are'} ${counted(available, 'host')}`;
  return new StciError('STCI_HOST_UNKNOWN', `${option} ${count}${besides}: ${there}. ${remedy}`);
}

function makeApp(request: ProgramRequest, own: readonly number[] | undefined, place: Place): AppSpec {
  return {
    program: request.program,
    args: request.args,
    ...(request.count !== undefined && { count: request.count }),
    ...(own !== undefined && { hosts: own }),
    env: exportedVariables(request.exports, place.env.variables),
    ...(request.wdir !== undefined && { wdir: resolveFrom(place.wdir, request.wdir, '--wdir') }),
  };
}

/** A program's own hosts among those of the job, ascending; excluded ones are gone. */
function ownHosts(request: ProgramRequest, hosts: readonly HostSpec[]): number[] | undefined {
  if (request.hosts.length === 0) return undefined;
  const names = new Set(request.hosts.flatMap(hostItems).map(({ name }) => name));
  const indexes = hosts.flatMap((host, index) => (names.has(host.name) ? [index] : []));
  if (indexes.length > 0) return indexes;
  const text = `No host is left for ${request.program}: all of its --host are excluded, kept as spares, or not among `
    + 'the first of --nodes.';
  throw new StciError('STCI_HOST_UNKNOWN', text);
}

/** Stands in for the caller's directory where no program needs that. */
function anyDirectory(programs: readonly ProgramRequest[]): string {
  if (programs.every(({ wdir }) => wdir !== undefined)) return '/';
  throw removed('Change to another one, or say with --wdir DIR where the program shall run.');
}
