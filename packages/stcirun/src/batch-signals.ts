/**
 * Signals of a batch system to an agent. It sends them to the step of a job, which may be the agents alone (Slurm with
 * cgroups) or all that they have started, too: at the end of the job, a time before it (`#SBATCH --signal=USR2@60`),
 * or as its user asks (`scancel --signal`). They are meant for the program, not for the agent.
 */

/** TERM announces the end. HUP and USR1 are every agent's (agent-main.ts, no-debugger.ts). */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGUSR2', 'SIGALRM', 'SIGVTALRM', 'SIGPROF', 'SIGXCPU', 'SIGTSTP'] as const;

/** In a job of Slurm; elsewhere such a signal ends an agent. */
export function watchBatchSignals(variables: NodeJS.ProcessEnv, onTerminate: () => void): void {
  if (variables['SLURM_JOB_ID'] === undefined) return;
  for (const signal of SIGNALS) process.on(signal, () => undefined);
  process.on('SIGTERM', onTerminate);
}
