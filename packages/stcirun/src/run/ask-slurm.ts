/** The allocation of `--alloc`: what is asked of Slurm for a job, and the job's settings in what it gives. */

import { basename } from 'node:path';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { requestAllocation, type AllocationRequest } from '../alloc/request-allocation.js';
import { sallocArguments } from '../alloc/salloc-options.js';
import type { RunRequest } from '../cli/parse.js';
import type { Variables } from '../cli/environment.js';
import type { Prepared } from './prepare.js';

/** salloc's arguments: the job's ranks and hosts, then what `--alloc` says. */
export function allocationArguments(
  { programs, mapBy, nodes, spares, alloc = [] }: RunRequest, variables: Variables,
): readonly string[] {
  const tasks = programs.reduce<number | undefined>((sum, { count }) =>
    (sum === undefined || count === undefined ? undefined : sum + count), 0);
  const tasksPerNode = mapBy.by === 'ppr' ? mapBy.perHost : undefined;
  const name = basename(programs[0]?.program ?? 'stcirun');
  return sallocArguments(alloc, { name, nodes: nodes && nodes.count + spares, tasks, tasksPerNode }, variables);
}

export type Waiting = Pick<AllocationRequest, 'signal' | 'onState'>;

/** Rejects as `requestAllocation` does. */
export async function askSlurm(
  { request, platform: { env: { variables } }, say }: Prepared, waiting: Waiting,
): Promise<HeldAllocation> {
  const args = allocationArguments(request, variables);
  const allocation = await requestAllocation({
    ...waiting, args, variables, onWords: (text) => request.quiet || say(`Slurm: ${text}`),
  });
  if (request.verbose) say(`Slurm job ${allocation.job} has ${allocation.variables['SLURM_JOB_NODELIST']}`);
  return allocation;
}

/** The same with the variables that Slurm gave. */
export function withAllocation(prepared: Prepared, allocation: HeldAllocation): Prepared {
  const variables = { ...prepared.platform.env.variables, ...allocation.variables };
  return { ...prepared, platform: prepared.openPlatform(variables), allocation };
}
