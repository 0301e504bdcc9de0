/**
 * Programs linked with MPI whose library has not spoken with its agent: none of the protocols was offered, or it knows
 * none of them. So each rank is a job of one, which a warning states, and the job's exit code. The program's file on
 * this machine is read once all ranks run, so that no start waits for it.
 */

import type { RunRemarks } from '@stci/core/run';
import { StciError, type JobMap, type JobSpec, type Params } from '@stci/interface';
import { needsMpi } from '../files/linked-mpi.js';

/** A remark on each program of several ranks that is linked with MPI, and the failure of the job. */
export function mpiRemarks({ spec, map, params }: {
  readonly spec: Pick<JobSpec, 'apps' | 'env' | 'wdir'>; readonly map: JobMap; readonly params: Params;
}): RunRemarks {
  const { apps, env, wdir } = spec;
  const counts = new Array<number>(apps.length).fill(0);
  for (const { runs } of map.hosts) for (const { app, count } of runs) counts[app] = (counts[app] ?? 0) + count;
  const found = apps.filter(({ program, wdir: own }, i) => {
    return (counts[i] ?? 0) > 1 && needsMpi(program, { path: env['PATH'] ?? '', wdir: own ?? wdir });
  });
  const programs = [...new Set(found.map(({ program }) => program))];
  const texts = programs.map((program) =>
    `${program} is linked with MPI, and no rank has asked for the others: each was an MPI job of size 1`);
  if (programs.length === 0 || params.string('mpi.singletons') === 'warn') return { texts };
  const text = `${programs.join(', ')}: all ranks ended with 0, each as an MPI job of size 1. Its library has to `
    + 'speak PMI-1 or PMIx, and --mpi must not leave that out. Else start it by the mpiexec of its MPI; if each rank '
    + 'is to be alone: --mca mpi.singletons=warn';
  return { texts, failure: new StciError('STCI_MPI_SINGLETONS', text) };
}
