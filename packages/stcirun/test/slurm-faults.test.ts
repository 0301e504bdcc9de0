/** Jobs in the allocations of a real Slurm, of which a host or a daemon fails. */
// @timeoutMs 400000
// @sameFor node: Slurm and hosts; for Node the launcher's tests have the same.

import { assert, suite } from '@stci/testkit';
import { whyNoSlurm } from '@stci/testkit/hosts';
import { SlurmSide, sorted } from './slurm-side.js';

const why = whyNoSlurm();
const LONG = { timeoutMs: 120_000 };
/** Says that it runs, and ends once there is a file `go`. */
const UNTIL_GO = (side: SlurmSide): string =>
  `sh -c 'echo $(hostname) runs; while [ ! -e ${side.directory}/go ]; do sleep 0.2; done; echo $(hostname) ends'`;

let side: SlurmSide;

suite('faults in an allocation of Slurm', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, async () => {
      await side.run(`rm -f ${side.directory}/go`);
      try {
        await body();
      } finally {
        await side.restore();
      }
      await side.settled();
    }, LONG);
  test.before(async () => {
    if (why === undefined) side = await SlurmSide.up(4);
  }, LONG);
  test.after(async () => {
    await side?.down();
  }, LONG);

  check('a host is killed: with --no-kill and continue the others go on, after Slurm has it as down, too', async () => {
    const job = side.start('--no-kill -N4', `stcirun --on-failure host=continue ${UNTIL_GO(side)}`);
    await job.has(4, /runs/);
    await side.kill('h3');
    await side.hosts.slurm.untilNodes(['h3'], 'down*', 60_000);
    await side.run(`touch ${side.directory}/go`);
    assert.is(await job.ended(), 200, job.err);
    assert.is(sorted(job.lines.filter((line) => line.endsWith('ends')).join('\n')), 'h1 ends h2 ends h4 ends');
    assert.match(job.err, /stcirun: lost: rank 2 on h3/);
    assert.not.match(job.err, /Slurm job \d+/);
  });

  check('a host is killed: without --no-kill Slurm ends the job, which is told in its words', async () => {
    const job = side.start('-N4', `stcirun --on-failure host=continue ${UNTIL_GO(side)}`);
    await job.has(4, /runs/);
    await side.kill('h3');
    assert.is(await job.ended(), 200, job.err);
    const words = /(agents, was cancelled|was ended: node failure(.|\n)*what to do: .*salloc --no-kill)/;
    assert.match(job.err, /Agent root:2 on host h3 is lost: (.|\n)*Slurm job \d+/);
    // Which of its words comes first is Slurm's.
    assert.match(job.err, words);
    assert.match(job.err, /salloc: error: Node failure on h3/);
  });

  check('a host is killed: the default is that the job ends in order, before Slurm notices', async () => {
    const job = side.start('--no-kill -N4', `stcirun ${UNTIL_GO(side)}; echo rc $?`);
    await job.has(4, /runs/);
    await side.kill('h2');
    await job.ended();
    assert.match(job.out, /rc 200\n$/, job.err);
    assert.match(job.err, /stcirun: lost: rank 1 on h2/);
    assert.not.match(job.err, /Slurm job \d+/);
  });

  check('a host is killed when its program has ended: the others end in order', async () => {
    const program = `sh -c 'test $(hostname) = h4 || { echo runs; exec sleep 2; }; echo last'`;
    const job = side.start('--no-kill -N4', `stcirun --on-failure host=continue ${program}; echo rc $?`);
    await job.has(1, /last/);
    await job.has(3, /runs/);
    await side.kill('h4');
    await job.ended();
    assert.match(job.out, /rc (0|200)\n$/, job.err);
    assert.is(job.lines.filter((line) => line === 'runs').length, 3);
  });

  check('slurmctld is restarted while a job runs, which does not notice', async () => {
    const job = side.start('-N4', `stcirun ${UNTIL_GO(side)}; echo rc $?`);
    await job.has(4, /runs/);
    await side.hosts.slurm.stopSlurmctld();
    await side.run(`touch ${side.directory}/go`);
    await job.has(4, /ends/);
    await side.hosts.slurm.startSlurmctld();
    await job.ended();
    assert.match(job.out, /rc 0\n/, job.err);
  });

  check('an agent is killed: a step of its own starts it again, and its rank runs there', async () => {
    const policy = '--on-failure host=restart,tool=restart --mca errmgr.loss=start-again';
    const job = side.start('-N3', `stcirun ${policy} ${UNTIL_GO(side)}`);
    await job.has(3, /runs/);
    await side.hosts.runOn('h3', ['sh', '-c', 'kill -9 $(pgrep -ox stci-agent)']);
    await job.has(2, /h3 runs/);
    await side.run(`touch ${side.directory}/go`);
    assert.is(await job.ended(), 0, job.err);
    assert.is(sorted(job.lines.filter((line) => line.endsWith('ends')).join('\n')), 'h1 ends h2 ends h3 ends');
  });

  check('a session gets a host again that it has lost', async () => {
    const kill = "srun --overlap --nodelist=h3 -N1 -n1 sh -c 'kill -9 $(pgrep -ox stci-agent)'";
    const run = await side.salloc('-N3', ['set -e', 'stci start --name back >/dev/null', kill,
      'while stcirun --session back --host h3 true; do sleep 0.1; done 2>/dev/null',
      'stci add-hosts h3 --session back', 'stcirun --session back hostname', 'stci stop back >/dev/null'].join('\n'));
    assert.is(run.code, 0, run.stderr);
    assert.is(sorted(run.stdout), 'h1 h2 h3', run.stderr);
  });
});
