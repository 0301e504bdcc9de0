/**
 * What a tool finds in its environment about its job (docs/environment.md). The program's own variables take
 * precedence over those of the job, and the runtime's `STCI_*` over both, so that a rank never gets a wrong number.
 */

import {
  PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE, type HostIndex, type HostMap, type JobId, type JobSpec,
  type Placement, type Rank, type Spawn,
} from '@stci/interface';
import { foldHostlist } from './hostset.js';
import { localSize } from './placement.js';
import { spawnOf } from './spawn.js';

/** Facts that are the same for every rank of a job on one host. */
export interface HostContext {
  readonly job: JobId;
  /** Name of the session, unique on its machines. */
  readonly session: string;
  /** Number of ranks of the job, as it was launched. */
  readonly size: number;
  /** That programs of the job have made. */
  readonly spawns?: readonly Spawn[] | undefined;
  /** Place of the host among those of the job as it runs, from 0. */
  readonly node: number;
  /** Number of hosts of the job as it runs: those without ranks count, those that are left out do not. */
  readonly nodes: number;
  readonly hostMap: HostMap;
  /** What a batch system says of the host. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Variables that the runtime sets for one rank, in the order of the table in docs/environment.md. */
const OF_RANK = {
  STCI_RANK: (_host, { rank }) => rank,
  STCI_SIZE: ({ size, spawns }, { rank }) => sizeFor(rank, size, spawns),
  STCI_LOCAL_RANK: (_host, { localRank }) => localRank,
  STCI_LOCAL_SIZE: ({ hostMap }) => localSize(hostMap),
  STCI_NODE: ({ node }) => node,
  STCI_NODES: ({ nodes }) => nodes,
  STCI_HOST: ({ hostMap }) => hostMap.name,
  STCI_APP: (_host, { app }) => app,
  STCI_ATTEMPT: (_host, _rank, attempt) => attempt,
  STCI_JOB_ID: ({ job }) => job,
  STCI_SESSION_ID: ({ session }) => session,
} satisfies Record<string, (host: HostContext, rank: Placement, attempt: number) => string | number>;

/** Ranks of the job as the rank was spawned, with those of its spawn: the same in each of its attempts. */
function sizeFor(rank: Rank, launched: number, spawns: readonly Spawn[] = []): number {
  const own = spawnOf(spawns, rank);
  return own === undefined ? launched : own.first + own.count;
}

export const RANK_VARIABLES = Object.keys(OF_RANK) as (keyof typeof OF_RANK)[];

/** Variables that are the same for all ranks of a job, and tell where the others are. */
export const JOB_VARIABLES = ['STCI_HOSTS', 'STCI_MASTER'] as const;

/** The mark of job and host in the environment of every tool and its descendants: leftovers are found by it. */
export const MARK_VARIABLE = 'STCI_TOOL_MARK';

/** Set by the runtime, whatever the user's environment says. The platform sets the last one to find guarded tools. */
export const RESERVED_VARIABLES: readonly string[] = [
  ...RANK_VARIABLES, ...JOB_VARIABLES, MARK_VARIABLE, 'STCI_GUARD', PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE,
];

/** STCI_NODE of each host of a job as it runs, without those that are left out. */
export function nodeNumbers(hosts: readonly HostIndex[]): Map<HostIndex, number> {
  return new Map(hosts.map((host, node) => [host, node]));
}

/** Linux starts no program with a variable of 128 KiB. */
const HOSTS_CHARS_MAX = 64 * 1024;

/**
 * Variables of a job on these hosts, in the order of STCI_NODE: their names, as a host list, and rank 0's; `localhost`
 * where the agents of all that have ranks share one network stack. `networkOf`: its name.
 */
export function jobVariables(
  hosts: readonly HostMap[], networkOf: (host: HostIndex) => string | undefined,
): Partial<Record<(typeof JOB_VARIABLES)[number], string>> {
  const list = foldHostlist(hosts.map(({ name }) => name));
  const used = hosts.filter(({ runs }) => runs.length > 0);
  const master = used.find(({ runs }) => runs.some(({ first }) => first === 0));
  const networks = new Set(used.map(({ host }) => networkOf(host)));
  const isOneNetwork = networks.size === 1 && !networks.has(undefined);
  return {
    ...(list.length <= HOSTS_CHARS_MAX && { STCI_HOSTS: list }),
    ...(master !== undefined && { STCI_MASTER: isOneNetwork ? 'localhost' : master.name }),
  };
}

/** The complete environment of one rank, at its start of the number `attempt`. */
export function rankEnvironment(
  spec: Pick<JobSpec, 'apps' | 'env'>,
  context: HostContext,
  placement: Placement,
  attempt = 1,
): Record<string, string> {
  const { apps, env } = spec;
  const program = apps[placement.app]?.env;
  const own = Object.entries(OF_RANK).map(([name, of]) => [name, String(of(context, placement, attempt))]);
  return { ...env, ...context.variables, ...program, ...Object.fromEntries(own) as Record<string, string> };
}
