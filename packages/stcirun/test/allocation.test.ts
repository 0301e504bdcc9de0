/** Hosts of batch systems, by the built programs with the variables that such systems set. */
// @timeoutMs 120000

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expandHostlist } from '@stci/core';
import { plan } from '@stci/stcirun';
import { assert, suite } from '@stci/testkit';
import { run, type Result } from './e2e.js';
import { Place } from './e2e-place.js';

const JOB = { SLURM_JOB_ID: '17', SLURM_JOB_NODELIST: 'h[1-4]', SLURM_TASKS_PER_NODE: '2(x3),1' };
const LOCAL = ['--launcher', 'local', '--tag=host', '--', 'echo', 'x'];
const LONG = { timeoutMs: 30_000 };

/** A line for each rank, by its host. */
const hostsOf = ({ out }: Result): string => out.trim().split('\n').map((line) => line.slice(1, 3)).sort().join(' ');

async function refused(env: Record<string, string>, args: readonly string[], ...words: string[]): Promise<void> {
  const { exitCode, out, err } = await run([...args, '--dry-run', 'true'], { env });
  assert.equal([exitCode, out], [words[0] === 'usage' ? 193 : 195, ''], err);
  for (const word of words.filter((one) => one !== 'usage')) assert.match(err, word);
}

suite('inside of a Slurm job', (test) => {
  test('its hosts are used, all or those that are chosen', async () => {
    assert.is(hostsOf(await run(LOCAL, { env: JOB })), 'h1 h1 h2 h2 h3 h3 h4');
    assert.is(hostsOf(await run(['-N', '2', '--ppn', '1', ...LOCAL], { env: JOB })), 'h1 h2');
    assert.is(hostsOf(await run(['--host', 'h4,h2', '-n', '2', ...LOCAL], { env: JOB })), 'h2 h4');
    assert.is(hostsOf(await run(['--mca', 'allocation=given', '--host', 'h9', ...LOCAL], { env: JOB })), 'h9');
    const { out } = await run(['--dry-run', '--json', '-N1', '--spares', '2', 'true'], { env: JOB });
    const map = JSON.parse(out.split('\n', 1)[0] as string) as { hosts: Record<string, unknown>[]; spares: string[] };
    assert.equal(map.hosts.map(({ name, slots, slotsBound, origin }) => [name, slots, slotsBound, origin]),
      [['h1', 2, true, 'SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE']]);
    assert.equal(map.spares, ['h2', 'h3']);
  }, LONG);

  test('more than it has is refused with what is possible', async () => {
    await refused(JOB, ['-n', '8'], '8 ranks need more slots than there are: 7 on 4 hosts', 'at most -n 7,');
    await refused(JOB, ['--ppn', '2'], 'which has 1 slot(s)', 'at most --ppn 1 on these hosts');
    await refused(JOB, ['-N', '5'], '-N 5: there are 4 hosts. Ask for at most -N 4.');
    await refused(JOB, ['-N', '4', '--spares', '1'], 'Ask for at most -N 3 and --spares 1.');
    await refused(JOB, ['--host', 'h5'], 'host h5 is not in Slurm job 17', '--mca allocation=given');
    await refused({ ...JOB, SLURM_TASKS_PER_NODE: '2' }, [], 'SLURM_TASKS_PER_NODE is "2"');
    await refused({}, ['-N', '2'], 'usage', 'write --nodes 2', '--ppn 2');
  }, LONG);

  test('the library has its hosts, too', async () => {
    const { map } = await plan({ program: 'true', nodes: 2, env: { ...process.env, ...JOB } });
    assert.equal(map.hosts.map(({ name, slots }) => [name, slots]), [['h1', 2], ['h2', 2]]);
  });
});

suite('sessions and batch jobs', (test) => {
  let place: Place;
  test.before(() => { place = new Place(); });
  test.after(() => rmSync(place.directory, { recursive: true, force: true }));
  const stci = (env: Record<string, string>, ...args: string[]): ReturnType<Place['stci']> => {
    Object.assign(process.env, env);
    try {
      return place.stci(...args);
    } finally {
      for (const name of Object.keys(env)) delete process.env[name];
    }
  };

  test('a session has the hosts of the job; its jobs do not look at variables', async () => {
    const started = stci(JOB, 'start', '--launcher', 'local', '-N', '3', '--name', 'batch');
    assert.equal([started.exitCode, started.out], [0, 'batch\n'], started.err);
    try {
      assert.is(place.hosts(), 'h1 up 1,h2 up 1,h3 up 1');
      const leftOver = { ...JOB, SLURM_JOB_NODELIST: 'gone[', SLURM_HET_SIZE: '2' };
      const job = (...options: string[]): Promise<Result> =>
        place.run('batch', [...options, '--tag=host', 'echo', 'x'], { env: leftOver }).result;
      assert.is(hostsOf(await job()), 'h1 h1 h2 h2 h3 h3');
      assert.is(hostsOf(await job('--nodes', '2', '--ppn', '1')), 'h1 h2');
      const many = await job('--nodes', '4');
      const words = 'stcirun: --nodes 4: there are 3 hosts. Ask for at most --nodes 3.\n';
      assert.equal([many.exitCode, many.err], [195, words]);
      const refusal = stci(JOB, 'add-hosts', 'h9', '--session', 'batch');
      assert.is(refusal.exitCode, 195);
      assert.match(refusal.err, 'host h9 is not in Slurm job 17');
      assert.is(stci(JOB, 'add-hosts', 'h4', '--session', 'batch').exitCode, 0);
      assert.is(place.session().hosts.map(({ spec }) => `${spec.name}:${spec.slots}`).join(), 'h1:2,h2:2,h3:2,h4:1');
    } finally {
      stci({}, 'stop', 'batch');
    }
  }, LONG);

  test('stci info and stci doctor say where hosts are from', () => {
    const why = stci(JOB, 'info', 'allocation', '--why').out.replaceAll(/\s+/gu, ' ');
    assert.match(why, 'slurm accepted, priority 80, Slurm job 17: 4 hosts of SLURM_JOB_NODELIST, their slots of '
      + 'SLURM_TASKS_PER_NODE <- chosen');
    assert.match(stci(JOB, 'complete', '--', 'stcirun', '--host', 'h').out, /^h4\b/mu);
    const here = stci(JOB, 'doctor', '--launcher', 'local', '--json');
    assert.is((JSON.parse(here.out) as { total: number }).total, 1, here.err);
  }, LONG);
});

suite('the file of a batch system', (test) => {
  let directory = '';
  test.before(() => { directory = mkdtempSync(join(tmpdir(), 'stci-allocation-')); });
  test.after(() => rmSync(directory, { recursive: true, force: true }));

  const env = (name: string): Record<string, string> => ({ PBS_NODEFILE: join(directory, name), PBS_JOBID: '7.head' });

  test('names the hosts, a slot a line', async () => {
    writeFileSync(join(directory, 'good'), 'n1\nn1\nn2\n', { mode: 0o644 });
    assert.is(hostsOf(await run(LOCAL, { env: env('good') })), 'n1 n1 n2');
    await refused(env('good'), ['-n', '4'], 'at most -n 3,');
    await refused(env('good'), ['--host', 'n3'], 'host n3 is not in PBS job 7.head');
    symlinkSync(join(directory, 'good'), join(directory, 'link'));
    assert.is(hostsOf(await run(LOCAL, { env: env('link') })), 'n1 n1 n2');
  }, LONG);

  test('is judged', async () => {
    writeFileSync(join(directory, 'open'), 'n1\n');
    chmodSync(join(directory, 'open'), 0o666);
    await refused(env('open'), [], `PBS_NODEFILE names ${directory}/open, which is not used: it is world-writable`);
    await refused(env('none'), [], 'there is no such file', '--mca allocation=given --hostfile FILE');
    mkdirSync(join(directory, 'sub'));
    await refused(env('sub'), [], 'it is not a regular file');
    execFileSync('mkfifo', ['-m', '600', join(directory, 'pipe')]);
    await refused(env('pipe'), [], 'it is not a regular file');
    await refused({ PBS_NODEFILE: 'nodes' }, [], 'its path is not absolute');
    writeFileSync(join(directory, 'bad'), 'n1\nn2 cpus=4\n', { mode: 0o600 });
    await refused(env('bad'), [], `${directory}/bad:2:4: expected slots=N`);
  }, LONG);
});

suite('lists of hosts', (test) => {
  let directory = '';
  test.before(() => { directory = mkdtempSync(join(tmpdir(), 'stci-hostlist-')); });
  test.after(() => rmSync(directory, { recursive: true, force: true }));

  const hasSlurm = spawnSync('scontrol', ['--version']).error === undefined;
  test.skipIf(!hasSlurm, 'no scontrol is installed here', 'are read as Slurm reads them', () => {
    const conf = join(directory, 'slurm.conf');
    writeFileSync(conf, 'ClusterName=test\nSlurmctldHost=localhost\n');
    // Of three brackets Slurm's order is another (the second counts slowest); it writes none with more than one.
    for (const list of [
      'a', 'a,b[1-2],c', 'n[8-11]', 'n[08-11]', 'n[098-102]', 'n[3,1-2]', 'r[1-2]n[01-16,20]', '[1-3]', 'n[1]',
      'a_b-c.d,x[0,00,000]', 'n[1-2][3-4]', 'n[9-9,10]', 'n01-03',
    ]) {
      const { stdout, stderr } = spawnSync('scontrol', ['show', 'hostnames', list], {
        encoding: 'utf8', env: { ...process.env, SLURM_CONF: conf },
      });
      assert.equal(expandHostlist(list).map(({ name }) => name), stdout.trim().split('\n'), `${list}: ${stderr}`);
    }
  });
});
