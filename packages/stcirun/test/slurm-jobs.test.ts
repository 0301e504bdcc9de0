/** Jobs and sessions in allocations of a real Slurm with many hosts, of which some may be down. */
// @timeoutMs 300000
// @sameFor node: Slurm and hosts; for Node jobs over ssh are the same.

import { assert, suite } from '@stci/testkit';
import { whyNoSlurm } from '@stci/testkit/hosts';
import { SlurmSide, sorted } from './slurm-side.js';

const why = whyNoSlurm();
const LONG = { timeoutMs: 120_000 };
const HOSTS = 16;
const DOWN = ['h3', 'h8', 'h13'];

let side: SlurmSide;

suite('jobs in an allocation of Slurm', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, async () => {
      try {
        await body();
      } finally {
        await side.restore();
      }
      await side.settled();
    }, LONG);
  test.before(async () => {
    if (why === undefined) side = await SlurmSide.up(HOSTS);
  }, LONG);
  test.after(async () => {
    await side?.down();
  }, LONG);

  check('8 ranks a host: all output, and the input to rank 0', async () => {
    const run = await side.salloc('-N2 --exclusive',
      'stcirun seq 1 20000 | sort -n | uniq -c | awk \'{ if ($1 == 16) n++ } END { print NR, n }\'; '
      + 'seq 1 5000 | stcirun sh -c "wc -l" | sort -n | uniq -c | awk \'{ print $1 "x" $2 }\'');
    assert.is(run.stdout, '20000 20000\n15x0\n1x5000\n', run.stderr);
  });

  check('two jobs at once, each by a step of its own with its name', async () => {
    const job = side.start('-N4',
      'stcirun --mca launcher.slurm.name other sh -c "echo one; exec sleep 100" & first=$!; '
      + 'stcirun sh -c "echo two; exec sleep 100" & second=$!; read go; '
      + 'squeue --noheader --steps --format="%i %j %N" | sed "s/^[0-9]*/step/"; '
      + 'kill $first $second; wait $first; echo rc $?; wait $second; echo rc $?');
    await job.has(4, /one/);
    await job.has(4, /two/);
    job.child.stdin?.end('go\n');
    await job.ended();
    const rest = job.lines.filter((line) => !/^(one|two)$/.test(line));
    const steps = rest.filter((line) => line.startsWith('step')).map((line) => line.replace(/^step\.\d/, '')).sort();
    assert.equal(steps, [' other h[1-4]', ' stci:sh h[1-4]'], job.err);
    assert.equal(rest.filter((line) => line.startsWith('rc')), ['rc 143', 'rc 143'], job.err);
  });

  check('stcirun inside a rank runs on the hosts of the job, two and three deep', async () => {
    const run = await side.salloc('-N2 --exclusive', 'stcirun -n 1 stcirun --ppn 1 hostname | sort; '
      + 'stcirun -n 1 stcirun -n 1 stcirun --ppn 1 hostname | sort');
    assert.is(run.stdout, 'h1\nh2\nh1\nh2\n', run.stderr);
  });

  check('jobs of a session share one step; hosts by ssh are the same', async () => {
    const run = await side.salloc('-N4 --ntasks-per-node=2', 'session=$(stci start 2>/dev/null); '
      + 'for i in 1 2 3; do stcirun --session $session -n 2 sh -c "echo job; sleep 1" & jobs="$jobs $!"; done; '
      + 'wait $jobs; echo rc $?; squeue --noheader --steps --format="%j %N"; stci ps | grep -c "ended 0"; '
      + 'stci stop; echo rc $?; squeue --noheader --steps; stcirun --launcher ssh hostname');
    const expected = [...Array<string>(6).fill('job'), 'rc 0', 'stci h[1-4]', '3', 'rc 0'];
    const lines = run.stdout.trim().split('\n');
    assert.equal(lines.slice(0, expected.length), expected, run.stderr);
    assert.is(sorted(lines.slice(expected.length).join('\n')), 'h1 h1 h2 h2 h3 h3 h4 h4', run.stderr);
  });

  check('three hosts are dead: one report names them in Slurm\'s words; with shrink the others run', async () => {
    const job = side.start(`--no-kill -N${HOSTS}`, 'echo ready; read go; stcirun hostname; echo rc $?; '
      + 'echo next >&2; stcirun --on-launch-failure shrink hostname; echo rc $?');
    await job.has(1, /ready/);
    await Promise.all(DOWN.map((host) => side.kill(host)));
    await side.hosts.slurm.untilNodes(DOWN, 'down*', 60_000);
    job.child.stdin?.end('go\n');
    await job.ended();
    const [failed = '', shrunk = ''] = job.err.split('next\n');
    const message = failed.slice(failed.indexOf('stcirun: '));
    assert.match(message, /^stcirun: h\[3,8,13\]: did not come up: .*Slurm has it as down \(it does not respond\)/);
    assert.is(message.split('\n').length, 3, `the hosts, what to do: ${message}`);
    for (const host of DOWN) assert.match(shrunk, new RegExp(`host ${host} is left out: .*Slurm has it as down`));
    const others = side.hosts.names.filter((host) => !DOWN.includes(host));
    assert.is(sorted(job.out), [...others, 'rc 0', 'rc 197', 'ready'].sort().join(' '), job.err);
  });
});
