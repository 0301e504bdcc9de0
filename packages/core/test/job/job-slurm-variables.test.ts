/** Which variables of Slurm programs get: what a batch script, salloc's shell, and a step of Slurm 22.05 have. */

import { environmentOfJob, variablesOfHost } from '@stci/core';
import { assert, suite } from '@stci/testkit';

type Variables = Readonly<Record<string, string>>;

const JOB: Variables = {
  SLURM_CLUSTER_NAME: 'c', SLURM_CONF: '/etc/slurm/slurm.conf', SLURM_JOBID: '7', SLURM_JOB_CPUS_PER_NODE: '3,1(x2)',
  SLURM_JOB_ID: '7', SLURM_JOB_NAME: 'night', SLURM_JOB_NODELIST: 'h[1-3]', SLURM_JOB_NUM_NODES: '3',
  SLURM_NNODES: '3', SLURM_NODELIST: 'h[1-3]', SLURM_SUBMIT_DIR: '/home/u', SLURM_SUBMIT_HOST: 'login',
  SLURM_ARRAY_TASK_ID: '4', SLURM_RESTART_COUNT: '1', SLURM_MEM_PER_NODE: '100', SLURM_CPUS_PER_TASK: '2',
};

const OF_BATCH: Variables = {
  SLURMD_NODENAME: 'h1', SLURM_CPUS_ON_NODE: '3', SLURM_GTIDS: '0', SLURM_LOCALID: '0', SLURM_NODEID: '0',
  SLURM_NPROCS: '4', SLURM_NTASKS: '4', SLURM_NTASKS_PER_NODE: '2', SLURM_PRIO_PROCESS: '0', SLURM_PROCID: '0',
  SLURM_TASKS_PER_NODE: '3,1', SLURM_TASK_PID: '19', SLURM_TOPOLOGY_ADDR: 'h1', SLURM_TOPOLOGY_ADDR_PATTERN: 'node',
};

const OF_STEP: Variables = {
  SLURM_CPU_BIND: 'quiet,mask_cpu:0x1', SLURM_CPU_BIND_LIST: '0x1', SLURM_LAUNCH_NODE_IPADDR: '10.0.0.1',
  SLURM_MPI_TYPE: 'none', SLURM_SRUN_COMM_HOST: '10.0.0.1', SLURM_SRUN_COMM_PORT: '1', SLURM_STEPID: '0',
  SLURM_STEP_ID: '0', SLURM_STEP_NODELIST: 'h[1-3]', SLURM_STEP_TASKS_PER_NODE: '1(x3)', SLURM_UMASK: '0022',
  SLURM_PMIX_MAPPING_SERV: '(vector)', PMI_RANK: '0', PMIX_RANK: '0',
  PMIX_SERVER_URI41: 'x', OMPI_COMM_WORLD_RANK: '0', OMPI_MCA_ess_base_jobid: '1', HYDI_CONTROL_FD: '4',
  MPI_LOCALRANKID: '0', JSM_JSRUN_PORT: '1', PRTE_LAUNCHED: '1',
};

const PLAIN: Variables = { PATH: '/bin', OMP_NUM_THREADS: '2', PMIX_MCA_psec: 'native', OMPI_MCA_btl: 'tcp,self',
  PMIX_INSTALL_PREFIX: '/opt', OMPI_CC: 'gcc', SLURMS: 'none of its' };

suite('variables of Slurm', (test) => {
  test('those of the job stay, those of a task, step or host do not', () => {
    assert.equal(environmentOfJob({ ...PLAIN, ...JOB, ...OF_BATCH, ...OF_STEP }), { ...PLAIN, ...JOB });
    for (const plain of [PLAIN, {}]) assert.equal(environmentOfJob(plain), plain);
  });

  const other: Variables = { ...PLAIN, SLURM_JOB_ID: '9', SLURM_JOB_NAME: 'other', SLURM_EXPORT_ENV: 'ALL' };
  for (const { name, caller, session, expected } of [
    { name: 'the caller is in the same job', caller: { ...JOB, SLURM_HINT: 'x' }, session: { ...JOB, ...OF_BATCH },
      expected: { ...JOB, SLURM_HINT: 'x' } },
    { name: 'the caller is in another job', caller: other, session: { ...JOB, ...OF_BATCH, HOME: '/' },
      expected: { ...PLAIN, ...JOB } },
    { name: 'the caller is in none', caller: PLAIN, session: JOB, expected: { ...PLAIN, ...JOB } },
    { name: 'the session is in none', caller: other, session: { PATH: '/usr/bin' }, expected: PLAIN },
    { name: 'neither is in one', caller: PLAIN, session: {}, expected: PLAIN },
  ] satisfies { name: string; caller: Variables; session: Variables; expected: Variables }[]) {
    test(`in a session that stays its job is meant: ${name}`, () => {
      assert.equal(environmentOfJob(caller, session), expected);
    });
  }

  test('a host has its name, place and GPUs from the step there, and its CPUs by the job', () => {
    const gpus = { CUDA_VISIBLE_DEVICES: '2,3', ROCR_VISIBLE_DEVICES: '2,3', SLURM_GPUS_ON_NODE: '2' };
    const own = { SLURMD_NODENAME: 'h2', SLURM_TOPOLOGY_ADDR: 'sw1.h2', SLURM_TOPOLOGY_ADDR_PATTERN: 'switch.node' };
    const step = { ...JOB, ...OF_STEP, ...own, ...gpus, SLURM_CPUS_ON_NODE: '1', SLURM_JOB_NAME: 'stci', HOME: '/' };
    assert.equal(variablesOfHost(JOB, step), { ...own, ...gpus, SLURM_CPUS_ON_NODE: '1' });
    assert.is(variablesOfHost(JOB, { ...step, SLURMD_NODENAME: 'h1' })['SLURM_CPUS_ON_NODE'], '3');
    assert.is(variablesOfHost(JOB, { ...step, SLURMD_NODENAME: 'h9' })['SLURM_CPUS_ON_NODE'], undefined);
    assert.is(variablesOfHost({ ...JOB, SLURM_JOB_CPUS_PER_NODE: '3(x1)x' }, step)['SLURM_CPUS_ON_NODE'], undefined);
    assert.is(variablesOfHost({ ...JOB, SLURM_JOB_NODELIST: 'h[1-' }, step)['SLURM_CPUS_ON_NODE'], undefined);
  });

  test('an agent that Slurm did not start on its host says nothing', () => {
    assert.equal(variablesOfHost(JOB, PLAIN), {});
    assert.equal(variablesOfHost(PLAIN, { ...JOB, ...OF_STEP, SLURMD_NODENAME: 'h2' }), {});
    assert.equal(variablesOfHost(JOB, { ...JOB, ...OF_STEP, SLURM_JOB_ID: '8', SLURMD_NODENAME: 'h2' }), {});
    // A batch script's agent is not in a step: its GPUs are those that the caller has chosen.
    const batch = { ...JOB, ...OF_BATCH, CUDA_VISIBLE_DEVICES: '0' };
    assert.is(variablesOfHost(JOB, batch)['CUDA_VISIBLE_DEVICES'], undefined);
    assert.is(variablesOfHost(JOB, batch)['SLURMD_NODENAME'], 'h1');
  });
});
