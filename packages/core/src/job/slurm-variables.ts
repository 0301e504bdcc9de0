/**
 * The variables of Slurm that programs get (docs/environment.md). Those of the job come from whoever submits it; those
 * of a host from the agent there, if Slurm started it; those that describe a task of Slurm, its step or its node are
 * not passed on, since they are another one's: a batch script has SLURM_PROCID=0, and so has an agent.
 */

import { expandHostlist } from './hostlist.js';

type Variables = Readonly<Record<string, string>>;

/** Variables of a task, a step or a host, or of MPI programs that something else starts. */
const OF_OTHERS = new RegExp(`^(?:${[
  'SLURM_(?:PROCID|LOCALID|NODEID|GTIDS|TASK_PID|NTASKS|NPROCS|TASKS_PER_NODE|NTASKS_PER_.*)',
  'SLURM_(?:STEP_.*|STEPID|SRUN_.*|LAUNCH_.*|UMASK|CPU_BIND.*|MEM_BIND.*|MPI_TYPE|PMI.*|PRIO_PROCESS)',
  'SLURM_(?:CPUS_ON_NODE|GPUS_ON_NODE|JOB_GPUS|TOPOLOGY_.*|JOB_CPUS_PER_NODE_PACK_.*)|SLURMD_.*',
  'PMI_.*|PMIX_(?!MCA_|INSTALL_PREFIX$).*|HYDI_.*|MPI_LOCALN?RANK(?:S|ID)|JSM_.*',
  'OMPI_(?:COMM_WORLD_.*|UNIVERSE_SIZE|APP_CTX_NUM_PROCS|FIRST_RANKS|NUM_APP_CTX|FILE_LOCATION|ARGV|COMMAND)',
  'OMPI_(?:PARENT_.*|MCA_(?:ess|orte|prte)_.*)|PRTE_(?!MCA_).*',
].join('|')})$`, 'u');

/** Variables of a host, as Slurm sets them for a step there. */
const OF_HOST = /^(?:SLURMD_NODENAME|SLURM_TOPOLOGY_.*|SLURM_GPUS_ON_NODE)$/u;

/** Which GPUs of its host the step has. */
const OF_STEP = /^(?:[A-Z]+_VISIBLE_DEVICES|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK)$/u;

/** Variables of a job, or of anything else of Slurm. */
const OF_SLURM = /^SLURMD?_/u;

const JOB_ID = 'SLURM_JOB_ID';

/**
 * Variables for all ranks of a job. `session`: those of a session that stays, whose hosts the job gets: its allocation
 * is meant, whatever the caller's is.
 */
export function environmentOfJob(caller: Variables, session?: Variables): Record<string, string> {
  const isOther = session !== undefined && session[JOB_ID] !== caller[JOB_ID];
  const own = isOther ? select(caller, (name) => !OF_SLURM.test(name)) : caller;
  const given = isOther && session[JOB_ID] !== undefined ? select(session, (name) => OF_SLURM.test(name)) : {};
  return select({ ...own, ...given }, (name) => !OF_OTHERS.test(name));
}

/** What the ranks on one host get besides: `agent` has the variables of the agent there. */
export function variablesOfHost(job: Variables, agent: Variables): Record<string, string> {
  if (job[JOB_ID] === undefined || agent[JOB_ID] !== job[JOB_ID]) return {};
  const isStep = agent['SLURM_STEP_ID'] !== undefined;
  const cpus = cpusOf(job, agent['SLURMD_NODENAME']);
  return {
    ...select(agent, (name) => OF_HOST.test(name) || (isStep && OF_STEP.test(name))),
    ...(cpus !== undefined && { SLURM_CPUS_ON_NODE: String(cpus) }),
  };
}

/** The CPUs that the job has on a node; undefined where Slurm does not say. */
function cpusOf(job: Variables, node: string | undefined): number | undefined {
  const { SLURM_JOB_NODELIST: nodes = '', SLURM_JOB_CPUS_PER_NODE: counts = '' } = job;
  if (node === undefined || !/^\d+(?:\(x\d+\))?(?:,\d+(?:\(x\d+\))?)*$/u.test(counts)) return undefined;
  let at = nodeIndex(nodes, node);
  for (const part of at < 0 ? [] : counts.split(',')) {
    const [, cpus, times = '1'] = /^(\d+)(?:\(x(\d+)\))?$/u.exec(part) as unknown as [string, string, string?];
    if (at < Number(times)) return Number(cpus);
    at -= Number(times);
  }
  return undefined;
}

function nodeIndex(nodes: string, node: string): number {
  try {
    return expandHostlist(nodes).findIndex(({ name }) => name === node);
  } catch {
    return -1; // A form of a list that only Slurm knows.
  }
}

function select(variables: Variables, isMeant: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => isMeant(name)));
}
