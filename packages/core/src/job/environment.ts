/**
 * What a tool finds in its environment about its job (docs/environment.md). The program's own variables replace those
 * of the job, and the runtime's `STCI_*` replace both, so that a rank is never told a wrong number.
 */

import type { HostMap, JobId, JobMap, JobSpec, Placement } from '@stci/interface';
import { localSize } from './placement.js';

/** Facts that are the same for every rank of a job on one host. */
export interface HostContext {
  readonly job: JobId;
  /** Name of the session, unique on its machines. */
  readonly session: string;
  /** Number of ranks of the job. */
  readonly size: number;
  /** Number of hosts of the job, those without ranks included. */
  readonly hosts: number;
  readonly hostMap: HostMap;
}

/** The names, in the order of the table in docs/environment.md. */
export const RANK_VARIABLES = [
  'STCI_RANK', 'STCI_SIZE', 'STCI_LOCAL_RANK', 'STCI_LOCAL_SIZE', 'STCI_NODE', 'STCI_NODES', 'STCI_HOST',
  'STCI_APP', 'STCI_JOB_ID', 'STCI_SESSION',
] as const;

/** Every tool carries the mark of its job and host here, its descendants too: by it the last of them is found. */
export const MARK_VARIABLE = 'STCI_TOOL_MARK';

/** Set by the runtime, whatever the user's environment says; the last one by the platform, to find guarded tools. */
export const RESERVED_VARIABLES: readonly string[] = [...RANK_VARIABLES, MARK_VARIABLE, 'STCI_GUARD'];

export type RankVariable = (typeof RANK_VARIABLES)[number];

export function hostContext(map: JobMap, hostMap: HostMap, job: JobId, session: string): HostContext {
  return { job, session, size: map.size, hosts: map.hosts.length, hostMap };
}

/** The variables that the runtime sets for one rank. */
export function rankVariables(context: HostContext, placement: Placement): Record<RankVariable, string> {
  return {
    STCI_RANK: String(placement.rank),
    STCI_SIZE: String(context.size),
    STCI_LOCAL_RANK: String(placement.localRank),
    STCI_LOCAL_SIZE: String(localSize(context.hostMap)),
    STCI_NODE: String(placement.host),
    STCI_NODES: String(context.hosts),
    STCI_HOST: context.hostMap.name,
    STCI_APP: String(placement.app),
    STCI_JOB_ID: String(context.job),
    STCI_SESSION: context.session,
  };
}

/** The complete environment of one rank. */
export function rankEnvironment(
  spec: Pick<JobSpec, 'apps' | 'env'>,
  context: HostContext,
  placement: Placement,
): Record<string, string> {
  return { ...spec.env, ...spec.apps[placement.app]?.env, ...rankVariables(context, placement) };
}
