/**
 * srun's own environment. Slurm reads options from SLURM_* and SRUN_* variables ("INPUT ENVIRONMENT VARIABLES" of
 * srun(1)), which salloc, sbatch and users set for the steps of programs. The step of the agents is another: those that
 * would change what it consists of, how its streams go, when it ends and what runs around it are left out. Those that
 * identify job, cluster and account stay.
 */

/** Behind SLURM_ or SRUN_. A name that ends in `*` stands for all that begin so. */
const STEP_OPTIONS = [
  // The step's size and where its tasks run.
  'NNODES', 'JOB_NUM_NODES', 'NTASKS', 'NPROCS', 'NTASKS_PER_*', 'TASKS_PER_NODE', 'DISTRIBUTION', 'DIST_*', 'HOSTFILE',
  'ARBITRARY_NODELIST', 'SPREAD_JOB', 'USE_MIN_NODES', 'CONSTRAINT', 'REQ_SWITCH', 'WAIT4SWITCH', 'RELATIVE',
  // What it has of each host: all, and it shares that with other steps.
  'CPUS_PER_TASK', 'CPUS_PER_GPU', 'CPU_BIND*', 'MEM_BIND*', 'MEM_PER_*', 'EXACT', 'EXCLUSIVE', 'OVERCOMMIT', 'OVERLAP',
  'HINT', 'THREADS_PER_CORE', 'CORE_SPEC', 'THREAD_SPEC', 'GPUS', 'GPUS_PER_*', 'GPU_BIND', 'GRES', 'GRES_FLAGS',
  'STEP_GRES', 'TRES_*', 'NETWORK', 'RESV_PORTS',
  // The step's streams.
  'LABELIO', 'UNBUFFEREDIO', 'STDINMODE', 'STDOUTMODE', 'STDERRMODE', 'OPEN_MODE', 'DEBUG', 'DEBUG_FLAGS',
  // The step's end, and srun's.
  'WAIT', 'KILL_BAD_EXIT', 'NO_KILL', 'IMMEDIATE', 'TIMELIMIT', 'SIGNAL', 'DISABLE_STATUS', 'EXIT_ERROR',
  'EXIT_IMMEDIATE', 'SRUN_REDUCE_TASK_EXIT_MSG', 'STEP_KILLED_MSG_NODE_ID',
  // What is set up for its tasks and runs before and after them, which are agents here.
  'MPI_TYPE', 'EXPORT_ENV', 'REMOTE_CWD', 'WORKING_DIR', 'PROLOG', 'EPILOG', 'TASK_PROLOG', 'TASK_EPILOG', 'BCAST*',
  'COMPRESS', 'TEST_EXEC', 'CONTAINER*', 'MULTI_PROG',
];

const LEFT_OUT = new RegExp(`^(?:SLURM|SRUN)_(?:${STEP_OPTIONS.map((name) => name.replace('*', '.*')).join('|')})$`);

/** Options of squeue, sinfo and scancel: they would hide hosts and jobs, or change how answers look. */
const ASK_OPTIONS = /^(?:SINFO_|SQUEUE_|SCANCEL_|SLURM_(?:BITSTR_LEN|TIME_FORMAT|DEBUG_FLAGS)$)/;

/** `variables` for Slurm's programs that are asked: without options of the user's. */
export function askEnvironment(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !ASK_OPTIONS.test(name)));
}

/** `variables` without those that would change the step. */
export function stepEnvironment(variables: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !LEFT_OUT.test(name)));
}
