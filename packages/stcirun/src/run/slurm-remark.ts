/** What `--verbose` says of the Slurm job that stcirun runs in, as its variables tell. */

import { counted, formatDuration } from '@stci/core';

const MS_PER_S = 1000;

/** undefined outside of a Slurm job. `nowMs`: wall-clock time. */
export function slurmRemark(variables: Readonly<Record<string, string>>, nowMs: number): string | undefined {
  const { SLURM_JOB_ID: job, SLURM_JOB_NAME: name, SLURM_RESTART_COUNT: restarts, SLURM_JOB_END_TIME: end } = variables;
  if (job === undefined) return undefined;
  const again = Number(restarts ?? 0);
  const leftMs = Number(end ?? NaN) * MS_PER_S - nowMs;
  const facts = [
    ...(again > 0 ? [`requeued ${counted(again, 'time')}`] : []),
    ...(leftMs > 0 ? [`time left: ${formatDuration(Math.round(leftMs / MS_PER_S) * MS_PER_S)}`] : []),
  ];
  return [`Slurm job ${job}${name === undefined ? '' : ` (${name})`}`, ...facts].join(', ');
}
