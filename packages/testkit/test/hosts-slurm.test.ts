/** Slurm on test hosts, seen from the login side through Slurm's own commands. */
// @timeoutMs 300000

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { assert, eventually, suite } from '@stci/testkit';
import { RUNTIME_DIRECTORY, up, whyNoSlurm } from '@stci/testkit/hosts';
import type { Hosts } from '@stci/testkit/hosts';
import { daemonOf } from '../dist/hosts/slurm.js';

const why = whyNoSlurm();
const LONG = { timeoutMs: 90_000 };
const UNREACHED_MS = 60_000;

/** Standard output of a shell command that must end well. */
async function shell(hosts: Hosts, command: string): Promise<string> {
  const { code, stdout, stderr } = await hosts.run(['sh', '-c', command], { deadlineMs: 60_000 });
  assert.is(code, 0, `${command}: ${stdout}${stderr}`);
  return stdout;
}

async function jobs(hosts: Hosts): Promise<string> {
  return shell(hosts, "squeue --noheader --format='%j %T'");
}

suite('test hosts with Slurm', (test) => {
  const check = (name: string, body: (hosts: Hosts) => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, () => body(hosts), LONG);
  let hosts: Hosts;
  test.before(async () => {
    if (why !== undefined) return;
    const conf = ['SlurmdTimeout=4', 'MessageTimeout=4', 'KillWait=2'];
    hosts = await up(4, { slurm: { cpus: 4, conf }, traits: { h3: ['private-home'], h4: ['absent'] } });
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  check('an allocation and its steps', async () => {
    const said = await shell(hosts, "salloc --quiet -N2 sh -c 'echo $SLURM_JOB_NODELIST; srun hostname | sort'");
    assert.is(said, 'h[1-2]\nh1\nh2\n');
    assert.is((await shell(hosts, 'srun --quiet -N3 -n12 hostname')).split('\n').length, 13);
    assert.is((await hosts.slurm.nodes()).get('h4'), 'down');
    assert.match(await shell(hosts, 'scontrol show config'), /KillWait\s+= 2 sec[^]*SlurmdTimeout\s+= 4 sec/);
  });

  check('a host has its own HOME in a step too', async () => {
    await shell(hosts, "srun --quiet -N3 -n3 sh -c 'hostname >>~/who'");
    assert.is(await shell(hosts, 'sort ~/who'), 'h1\nh2\n');
    assert.is(await hosts.runOn('h3', ['sh', '-c', 'cat ~/who']), 'h3\n');
  });

  check('jobs that ended are in sacct', async () => {
    await shell(hosts, 'srun --quiet --job-name=seen true');
    const ended = async (): Promise<boolean> =>
      /^seen +COMPLETED *$/m.test(await shell(hosts, 'sacct --completion --noheader --format=jobname%-10,state'));
    await eventually(ended, { deadlineMs: 10_000, everyMs: 100, what: 'the job in sacct' });
  });

  check('a job in the partition high ends one in debug, or requeues it', async () => {
    await shell(hosts, 'sbatch --output=/dev/null --job-name=low -N3 --exclusive --no-requeue --wrap "sleep 600"');
    await eventually(async () => (await jobs(hosts)) === 'low RUNNING\n', { deadlineMs: 15_000, what: 'low running' });
    assert.is(await shell(hosts, 'srun --quiet -p high -N3 --exclusive echo went'), 'went\nwent\nwent\n');
    await eventually(async () => (await jobs(hosts)) === '', { deadlineMs: 15_000, what: 'low preempted' });
  });

  check('slurmctld is restarted while a step runs', async () => {
    const step = ['srun', '--quiet', 'sh', '-c', 'sleep 3; echo on'];
    const held = hosts.run(['salloc', '--quiet', '-N1', '--job-name=held', ...step]);
    const runs = async (): Promise<boolean> => (await shell(hosts, 'squeue --steps --noheader')).includes('.0 ');
    await eventually(runs, { deadlineMs: 15_000, what: 'the step' });
    await hosts.slurm.restartSlurmctld();
    const { stdout, stderr } = await held;
    assert.equal([stdout, stderr], ['on\n', '']);
    await hosts.slurm.stopSlurmctld();
    assert.match((await hosts.run(['squeue'])).stderr, 'Unable to contact slurm controller');
    await hosts.slurm.startSlurmctld();
    await hosts.slurm.untilNodes(['h1', 'h2', 'h3'], 'idle');
  });

  check('a frozen slurmctld accepts and says nothing', async () => {
    hosts.slurm.freezeSlurmctld();
    try {
      assert.match((await hosts.run(['squeue'], { deadlineMs: 60_000 })).stderr, 'Socket timed out');
    } finally {
      hosts.slurm.thawSlurmctld();
    }
    assert.is(await jobs(hosts), '');
  });

  check('without munge nothing is answered', async () => {
    await hosts.slurm.stopMunge();
    assert.match((await hosts.run(['squeue'])).stderr, 'authentication error');
    await hosts.slurm.startMunge();
    assert.is(await jobs(hosts), '');
  });

  check('a killed host is down, and is idle when started again', async () => {
    await hosts.kill('h2');
    await hosts.slurm.untilNodes(['h2'], 'down*', UNREACHED_MS);
    await hosts.start('h2');
    await hosts.slurm.untilNodes(['h1', 'h2', 'h3'], 'idle', UNREACHED_MS);
    assert.is(await shell(hosts, 'srun --quiet -w h2 hostname'), 'h2\n');
  });

  check('daemons are no leftovers, what a step left is', async () => {
    await shell(hosts, "srun --quiet -w h1 sh -c 'setsid sleep 600 >/dev/null 2>&1 & sleep 0.1'");
    const left = [...hosts.allLeftovers()].map(([place, all]) => [place, all.map(({ command }) => command).join()]);
    assert.ok(left.length === 0 || (left.length === 1 && left[0]?.join() === 'h1,sleep 600'), JSON.stringify(left));
  });

  check('a second set is apart, and down ends all', async () => {
    const other = await up(1, { slurm: true });
    assert.is(await shell(other, 'srun --quiet hostname'), 'h1\n');
    await shell(other, 'sbatch --output=/dev/null --wrap "sleep 600"');
    await other.down();
    assert.equal(daemonsOf(other.set), []);
    assert.ok(!existsSync(`${RUNTIME_DIRECTORY}/${other.set}`));
    assert.is(await shell(hosts, 'srun --quiet -w h3 hostname'), 'h3\n');
  });

  check('clear errors', async () => {
    const plain = await up(1);
    assert.throws(() => plain.slurm, 'have no Slurm');
    await plain.down();
    for (const [slurm, text] of [[{ cpus: 0 }, 'not 0'], [{ conf: ['KillWait'] }, 'no line of slurm.conf'],
      [{ root: '/nowhere' }, '/nowhere lacks usr/sbin/munged']] as const) {
      const error = await up(1, { slurm }).catch((thrown: unknown) => thrown);
      assert.match((error as Error).message, text);
    }
  });
});

/** Command lines of all running daemons with files of the set open or mapped. */
function daemonsOf(set: string): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).map((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
      const mounts = readFileSync(`/proc/${pid}/mounts`, 'utf8');
      return daemonOf(command) !== undefined && mounts.includes(`/${set}/slurm/etc`) ? command : '';
    } catch {
      return '';
    }
  }).filter((command) => command !== '');
}
