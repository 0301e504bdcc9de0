/** Agents of the built stcirun that are in a job of Slurm, by its variable: what signals to them do. */

import { assert, eventually, suite } from '@stci/testkit';
import { slurmRemark } from '@stci/stcirun/internal';
import { watchBatchSignals } from '../dist/agent/batch-signals.js';
import { LONG, soon, withPlace } from './e2e-place.js';
import { processOf, sh, start, type Run } from './e2e.js';

const IN_JOB = { SLURM_JOB_ID: '7', SLURM_JOB_NAME: 'night', SLURM_PROCID: '0', SLURM_STEP_ID: '0' };

const NAMES = ['SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGXCPU', 'SIGTSTP'] as const;

/** Starts two ranks that say `up` and what signals they get. */
async function up(env: Readonly<Record<string, string>>): Promise<Run> {
  const traps = 'for s in TERM USR2; do trap "echo got-$s; [ $s = USR2 ] || exit 0" $s; done';
  const line = `${traps}; echo "up $SLURM_JOB_ID $SLURM_JOB_NAME $SLURM_PROCID."; while :; do sleep 0.05; done`;
  const job = start(['--launcher', 'local', '--mca', 'allocation=given', '--host', 'a,b', ...sh(line)], { env });
  await eventually(() => job.out().split('up ').length === 3, { deadlineMs: 10_000, what: 'two ranks' });
  return job;
}

/** Processes that stcirun has started: its agents. */
function agentsOf(job: Run): number[] {
  return job.leftovers().filter((pid) => processOf(pid)?.parent === job.child.pid);
}

suite('signals of a batch system', (test) => {
  test('agents go on at any but TERM, by which their job ends in order', async () => {
    const job = await up(IN_JOB);
    assert.is(job.out(), 'up 7 night .\n'.repeat(2), 'the job is told to programs, the task is not');
    const agents = agentsOf(job);
    assert.is(agents.length, 2);
    for (const name of [...NAMES, 'SIGHUP'] as const) for (const pid of agents) process.kill(pid, name);
    for (const pid of agents) process.kill(pid, 'SIGTERM');
    const result = await job.result;
    assert.is(result.exitCode, 143, result.err);
    assert.match(result.err, /The agents were told to end \(SIGTERM\), as a batch system does .*: a,b\n/u);
    assert.is(result.out.split('got-TERM\n').length, 3, result.out);
    assert.not.match(result.out, 'got-USR2');
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 5000, what: 'all gone' });
  }, { timeoutMs: 20_000 });

  test('a session ends with its allocation, and stci ps tells why', withPlace(async (place) => {
    Object.assign(place.env, { SLURM_JOB_ID: '7' });
    place.start('night', '--mca', 'allocation=given');
    const agents = await place.agents('night');
    const line = 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done';
    const job = place.run('night', ['-n', '2', ...sh(line)]);
    await soon(() => job.out().split('up').length === 3, 'two ranks');
    for (const pid of agents.values()) process.kill(pid, 'SIGTERM');
    const { exitCode, out, err } = await job.result;
    assert.equal([exitCode, out.split('bye').length], [143, 3], err);
    let told = '';
    await soon(() => (told = place.stci('ps').out).includes('gone'), 'the end of the session');
    assert.match(told, /^night: gone: .*The agents were told to end \(SIGTERM\), as a batch system does .*: a,b\. /u);
    assert.match(told, 'Its log, and output that nobody has seen, are kept for a day');
  }), LONG);

  test('--verbose tells the job, that it was requeued, and the time that is left, where Slurm says it', async () => {
    const job = { SLURM_JOB_ID: '7', SLURM_JOB_NAME: 'night' };
    assert.is(slurmRemark({}, 0), undefined);
    assert.is(slurmRemark({ ...job, SLURM_RESTART_COUNT: '0' }, 0), 'Slurm job 7 (night)');
    const requeued = { ...job, SLURM_RESTART_COUNT: '2', SLURM_JOB_END_TIME: '5400' };
    assert.is(slurmRemark(requeued, 1_800_000), 'Slurm job 7 (night), requeued 2 times, time left: 1 h');
    assert.is(slurmRemark({ SLURM_JOB_ID: '7', SLURM_JOB_END_TIME: '5' }, 9000), 'Slurm job 7');
    const args = ['--launcher', 'local', '--mca', 'allocation=given', '--host', 'a', '--verbose', 'true'];
    const { err } = await start(args, { env: requeued }).result;
    assert.match(err, 'Slurm job 7 (night), requeued 2 times\n');
  }, { timeoutMs: 20_000 });

  test('elsewhere TERM ends an agent, as it ends any program', async () => {
    const job = await up({});
    const [first = 0] = agentsOf(job);
    assert.ok(first > 0);
    process.kill(first, 'SIGTERM');
    assert.is((await job.result).exitCode, 200);
  }, { timeoutMs: 20_000 });

  for (const { cgroup, isPassed } of [
    { cgroup: '0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n', isPassed: true },
    { cgroup: '4:freezer:/slurm/uid_0/job_7/step_extern\n1:name=systemd:/x\n', isPassed: true },
    { cgroup: '0::/user.slice/session-1.scope\n', isPassed: false },
    { cgroup: '', isPassed: false },
  ]) {
    test(`signals are passed on where Slurm sends them to the agent alone: ${JSON.stringify(cgroup)}`, () => {
      const names = [...NAMES, 'SIGTERM', 'SIGVTALRM', 'SIGPROF'] as const;
      const before = new Map(names.map((name) => [name, process.listeners(name)]));
      const told: string[] = [];
      const agent = { terminated: () => void told.push('SIGTERM'), forward: (name: string) => void told.push(name) };
      watchBatchSignals({ SLURM_JOB_ID: '7' }, () => agent, () => cgroup);
      try {
        for (const name of ['SIGUSR1', 'SIGXCPU', 'SIGTSTP', 'SIGTERM'] as const) process.emit(name);
      } finally {
        for (const name of names) {
          const added = process.listeners(name).filter((each) => before.get(name)?.includes(each) !== true);
          for (const each of added) process.off(name, each);
        }
      }
      assert.equal(told, [...(isPassed ? ['SIGUSR1', 'SIGXCPU'] : []), 'SIGTERM']);
    });
  }
});
