/** RunRequest → JobSpec: host files are read, hosts allocated, the environment and directories settled. */

import { allocate, counted, expandHostlist, HOSTFILE_BYTES_MAX, validateJob } from '@stci/core';
import { StciError, type AllocatedJob, type AppSpec, type HostSpec } from '@stci/interface';
import { exportedVariables, toolEnvironment, type Variables } from '../cli/environment.js';
import type { ProgramRequest, RunRequest } from '../cli/parse.js';
import { removed, resolveFrom } from './caller-directory.js';
import { readBounded, readReason, readRemedy, STANDARD_INPUT } from './read-file.js';

export interface Place {
  /** undefined where it was removed. */
  readonly wdir: string | undefined;
  readonly hostname: string;
  readonly cpuCount: number;
  readonly variables: Variables;
}

/** Where the user names no `--launch-timeout`: the larger one, for many hosts take their time. */
const LAUNCH_TIMEOUT_MS = 60_000;
const LAUNCH_TIMEOUT_PER_HOST_MS = 500;

/** Throws for anything that makes the job impossible, before something is started. */
export function makeJobSpec(
  request: RunRequest,
  place: Place,
): { readonly spec: AllocatedJob; readonly spares: readonly HostSpec[] } {
  const all = allocate({
    hosts: request.programs.flatMap((program) => program.hosts),
    hostfiles: request.hostfiles.map((name) => readHostfile(place.wdir, name)),
    exclude: request.exclude,
    thisMachine: { hostname: place.hostname, cpuCount: place.cpuCount },
  });
  const { hosts, spares } = splitSpares(all, request);
  const single = request.programs.length === 1;
  const spec: AllocatedJob = {
    apps: request.programs.map((program) => makeApp(program, single ? undefined : hosts, place)),
    hosts,
    mapBy: request.mapBy,
    oversubscribe: Boolean(request.oversubscribe),
    env: toolEnvironment(place.variables, request),
    wdir: place.wdir ?? anyDirectory(request.programs),
    stdin: request.stdin,
    ...(request.timeoutMs !== undefined && { timeoutMs: request.timeoutMs }),
    launchTimeoutMs: request.launchTimeoutMs ?? Math.max(LAUNCH_TIMEOUT_MS, hosts.length * LAUNCH_TIMEOUT_PER_HOST_MS),
  };
  validateJob(spec);
  return { spec, spares };
}

/** Splits off the last hosts as spares; checks that enough are left. */
export function splitSpares(
  all: readonly HostSpec[],
  { spares, minHosts }: Pick<RunRequest, 'spares' | 'minHosts'>,
): Record<'hosts' | 'spares', readonly HostSpec[]> {
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

function makeApp(request: ProgramRequest, hosts: readonly HostSpec[] | undefined, place: Place): AppSpec {
  const own = hosts === undefined || request.hosts.length === 0 ? undefined : indexesOf(request, hosts);
  return {
    program: request.program,
    args: request.args,
    ...(request.count !== undefined && { count: request.count }),
    ...(own !== undefined && { hosts: own }),
    env: exportedVariables(request.exports, place.variables),
    ...(request.wdir !== undefined && { wdir: resolveFrom(place.wdir, request.wdir, '--wdir') }),
  };
}

/** A program's own hosts among those of the job, ascending; excluded ones are gone. */
function indexesOf(request: ProgramRequest, hosts: readonly HostSpec[]): number[] {
  const names = new Set(request.hosts.flatMap((list) => expandHostlist(list, { name: '--host' }).map((h) => h.name)));
  const indexes = hosts.flatMap((host, index) => (names.has(host.name) ? [index] : []));
  if (indexes.length > 0) return indexes;
  const text = `No host is left for ${request.program}: all of its --host are excluded, or kept as spares.`;
  throw new StciError('STCI_HOST_UNKNOWN', text);
}

/** Stands in for the caller's directory where no program needs that. */
function anyDirectory(programs: readonly ProgramRequest[]): string {
  if (programs.every(({ wdir }) => wdir !== undefined)) return '/';
  throw removed('Change to another one, or say with --wdir DIR where the program shall run.');
}

/** Throws STCI_HOSTFILE_INVALID. `name` is what the user wrote; `-` is standard input. */
export function readHostfile(directory: string | undefined, name: string): { name: string; text: string } {
  const path = name === STANDARD_INPUT ? name : resolveFrom(directory, name, '--hostfile');
  try {
    return { name: name === STANDARD_INPUT ? 'standard input' : name, text: readBounded(path, HOSTFILE_BYTES_MAX) };
  } catch (thrown) {
    const text = `--hostfile ${name} cannot be read: ${readReason(thrown)}. ${readRemedy(thrown)}`;
    throw new StciError('STCI_HOSTFILE_INVALID', text);
  }
}
