/** Allocations of a real Slurm that do not work as they should: what stcirun says, its exit code, and what is left. */
// @timeoutMs 300000
// @sameFor node: Slurm and hosts; for Node the launcher's tests have the same.

import { assert, suite } from '@stci/testkit';
import { whyNoSlurm } from '@stci/testkit/hosts';
import { SlurmSide, sorted } from './slurm-side.js';

const why = whyNoSlurm();
const LONG = { timeoutMs: 120_000 };
const LAUNCH_FAILED = 197;
const NO_HOSTS = 195;

let side: SlurmSide;

suite('allocations of Slurm that do not work', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, async () => {
      try {
        await body();
      } finally {
        await side.restore();
      }
      await side.settled();
    }, LONG);
  const fails = async (script: string, code: number, ...patterns: readonly RegExp[]): Promise<void> => {
    const run = await side.salloc('-N3', script);
    for (const pattern of patterns) assert.match(run.stderr, pattern);
    assert.equal([run.code, run.stdout], [code, ''], run.stderr);
    assert.ok(run.stderr.length < 2500, `a few lines, not ${run.stderr}`);
    assert.not.match(run.stderr, /\n {4}at /);
  };
  test.before(async () => {
    if (why === undefined) side = await SlurmSide.up(3);
  }, LONG);
  test.after(async () => {
    await side?.down();
  }, LONG);

  check('the allocation has ended, in its own shell', async () => {
    const run = await side.salloc('-N3', 'trap "" TERM HUP; scancel --quiet $SLURM_JOB_ID; '
      + 'while squeue --noheader | grep -q .; do sleep 0.1; done; stcirun hostname; echo rc $?');
    assert.match(run.stderr, /the allocation has ended, (.|\n)*unset SLURM_JOB_ID/);
    assert.is(run.stdout, `rc ${LAUNCH_FAILED}\n`);
  });

  check('srun is not found', async () => {
    await fails('exec stcirun --mca launcher.slurm.client nosrun hostname', LAUNCH_FAILED,
      /h\[1-3\]: did not come up: .*nosrun.*not found(.|\n)*what to do: Load Slurm's programs/);
  });

  check('munged does not run', async () => {
    const job = side.start('-N3', 'echo ready; read go; stcirun hostname; echo rc $?; read go');
    await job.has(1, /ready/);
    await side.hosts.slurm.stopMunge();
    job.child.stdin?.write('go\n');
    await job.has(1, /rc/).finally(() => side.hosts.slurm.startMunge());
    job.child.stdin?.end('go\n');
    await job.ended();
    assert.match(job.err, /h\[1-3\]: did not come up: .*authentication fails here(.|\n)*Munge encode failed/);
    assert.match(job.err, /what to do: Have munged started/);
    assert.is(job.out, `ready\nrc ${LAUNCH_FAILED}\n`);
  });

  check('slurmctld does not answer', async () => {
    const job = side.start('-N3', 'echo ready; read go; stcirun hostname; echo rc $?; read go');
    await job.has(1, /ready/);
    side.hosts.slurm.freezeSlurmctld();
    job.child.stdin?.write('go\n');
    await job.has(1, /rc/).finally(() => side.hosts.slurm.thawSlurmctld());
    job.child.stdin?.end('go\n');
    await job.ended();
    assert.match(job.err, /h\[1-3\]: did not come up: .*controller does not answer(.|\n)*scontrol ping/);
    assert.is(job.out, `ready\nrc ${LAUNCH_FAILED}\n`);
  });

  check('a host of the list is none of the job, or none of the cluster', async () => {
    await fails('SLURM_JOB_NODELIST=h[1-2],nohost exec stcirun hostname', LAUNCH_FAILED,
      /on host nohost did not come up: .*does not have it/);
    const run = await side.salloc('-N2 -w h1,h2', 'SLURM_JOB_NODELIST=h[1,3] exec stcirun hostname');
    assert.match(run.stderr, /on host h3 did not come up: .*does not have it/);
    assert.is(run.code, LAUNCH_FAILED);
  });

  check('processors that another step has do not matter; options that srun refuses do', async () => {
    const run = await side.salloc('-N3 --exclusive',
      'srun --exact -N3 -n3 -c8 sh -c "echo holds; sleep 100" & '
      + 'until squeue --noheader --steps | grep -q "sh "; do sleep 0.1; done; stcirun --ppn 1 hostname; kill $!; wait');
    assert.is(sorted(run.stdout.replaceAll('holds\n', '')), 'h1 h2 h3', run.stderr);
    await fails('exec stcirun --mca launcher.slurm.options --gres=gpu:4 hostname', LAUNCH_FAILED,
      /did not come up: phase step: (.|\n)*srun printed: (.|\n)*what to do: /);
    await fails('exec stcirun --mca launcher.slurm.options --nonsense hostname', LAUNCH_FAILED,
      /srun refuses its options(.|\n)*--nonsense(.|\n)*Correct launcherproc\.slurm\.options/);
  });

  check('garbage in variables, and variables of no job', async () => {
    for (const [variables, pattern] of [
      ['SLURM_JOB_NODELIST=h[1', /SLURM_JOB_NODELIST: column 2: expected a \]/],
      ['SLURM_TASKS_PER_NODE="x(y"', /SLURM_TASKS_PER_NODE: expected numbers .*got "x\(y"/],
      ['SLURM_TASKS_PER_NODE="1(x5)"', /SLURM_TASKS_PER_NODE is "1\(x5\)", but SLURM_JOB_NODELIST names 3 hosts/],
      ['SLURM_JOB_NODELIST=', /SLURM_JOB_NODELIST/],
    ] as const) {
      await fails(`export ${variables}; exec stcirun hostname`, NO_HOSTS, pattern, /unset SLURM_JOB_ID/);
    }
    for (const job of ['banana', '99999']) {
      await fails(`SLURM_JOB_ID=${job} exec stcirun hostname`, LAUNCH_FAILED, /the allocation has ended/);
    }
    const run = await side.salloc('-N3', 'SLURM_STEP_ID=-1 SLURM_PROCID=x SLURM_NODEID=$(printf "\\001") '
      + 'SLURM_CPU_BIND=nonsense SLURM_DISTRIBUTION=? SLURM_MPI_TYPE=none_such stcirun hostname');
    assert.is(sorted(run.stdout), 'h1 h2 h3', run.stderr);
  });
});
