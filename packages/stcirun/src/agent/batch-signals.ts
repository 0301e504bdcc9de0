/**
 * Signals of a batch system to an agent. Slurm sends them to the step of a job: at the end of the job, a time before it
 * (`#SBATCH --signal=USR2@60`), or as its user asks (`scancel --signal`). They are meant for the programs. Where Slurm
 * tracks processes by cgroups, it signals the processes alone that it has started, which are the agents; otherwise
 * (proctrack/linuxproc), all that these have started, too.
 */

import { readFileSync } from 'node:fs';
import type { SignalName } from '@stci/interface';

/** Signals by which users tell programs something; TERM announces the end. */
const FORWARDED: readonly SignalName[] = ['SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGXCPU'];

const IGNORED = ['SIGVTALRM', 'SIGPROF', 'SIGTSTP'] as const;

/** Path of the cgroup of a step in /proc/self/cgroup. */
const STEP = /\/job_\d+\/step_/u;

export interface SignalledAgent {
  terminated(reason: string): void;
  forward(signal: SignalName): void;
}

/** Watches in a job of Slurm; elsewhere such a signal ends an agent. `cgroups`: reads /proc/self/cgroup. */
export function watchBatchSignals(
  variables: NodeJS.ProcessEnv, agent: () => SignalledAgent, cgroups: () => string = readCgroups,
): void {
  if (variables['SLURM_JOB_ID'] === undefined) return;
  for (const signal of IGNORED) process.on(signal, () => undefined);
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      if (STEP.test(cgroups())) agent().forward(signal);
    });
  }
  process.on('SIGTERM', () => agent().terminated('it was told to end (SIGTERM)'));
}

function readCgroups(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'latin1');
  } catch {
    return ''; // A system without cgroups.
  }
}
