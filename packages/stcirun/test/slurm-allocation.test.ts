/** Hosts and slots in the jobs of a real Slurm: what its variables say, in all ways in which a job comes to be. */
// @timeoutMs 240000
// @sameFor node: Slurm and hosts; for Node its variables are those of the test allocation.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { up, whyNoSlurm, type Argv, type Hosts, type RunResult } from '@stci/testkit/hosts';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const why = whyNoSlurm();
const LONG = { timeoutMs: 90_000 };

let hosts: Hosts;
let directory = '';

/** Hosts and slots of a `--dry-run --json`. */
function mapOf(out: string): string {
  const line = out.split('\n').find((one) => one.startsWith('{"type":"map"'));
  const map = JSON.parse(line ?? '{"hosts":[]}') as { hosts: { name: string; slots: number }[] };
  return map.hosts.map(({ name, slots }) => `${name}:${slots}`).join(' ');
}

function run(argv: Argv): Promise<RunResult> {
  return hosts.run(argv, { deadlineMs: 60_000 });
}

const stcirun = (...args: string[]): string[] => [process.execPath, STCIRUN, ...args];
const DRY = stcirun('--dry-run', '--json', 'true');
/** The same as a line of shell. */
const DRY_LINE = DRY.map((word) => `'${word}'`).join(' ');

async function salloc(options: string, argv: readonly string[] = DRY): Promise<RunResult> {
  return run(['salloc', '--quiet', ...options.split(' '), ...argv]);
}

suite('allocations of a real Slurm', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    directory = mkdtempSync(join(tmpdir(), 'stci-slurm-'));
    hosts = await up(4, { slurm: { cpus: 8 } });
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (directory !== '') rmSync(directory, { recursive: true, force: true });
  }, LONG);

  check('hosts and slots are those that Slurm gives', async () => {
    for (const [options, expected] of [
      ['-N4', 'h1:1 h2:1 h3:1 h4:1'],
      ['-N4 --exclusive', 'h1:8 h2:8 h3:8 h4:8'],
      ['-N2 -n5 -w h1,h2', 'h1:4 h2:1'],
      ['-N2 -c2 --exclusive -w h1,h2', 'h1:4 h2:4'],
      ['-N3 --ntasks-per-node=2 -w h2,h4,h1', 'h1:2 h2:2 h4:2'],
    ] as const) {
      const { stdout, stderr } = await salloc(options);
      assert.is(mapOf(stdout), expected, `${options}: ${stderr}`);
    }
  });

  check('the list has the names that scontrol shows', async () => {
    const { stdout } = await salloc('-N3', ['sh', '-c', `scontrol show hostnames; ${DRY_LINE}`]);
    assert.is(mapOf(stdout), 'h1:1 h2:1 h3:1');
    assert.match(stdout, /^h1\nh2\nh3\n/);
  });

  check('a batch script, and a task that srun starts, see the whole job', async () => {
    const script = join(directory, 'job.sh');
    writeFileSync(script, `#!/bin/sh\n${DRY_LINE}\n`);
    const batch = await run(['sbatch', '--wait', '--quiet', '-N2', '-n6', `--output=${directory}/out`, script]);
    assert.is(batch.code, 0, batch.stderr);
    assert.is(mapOf((await run(['cat', join(directory, 'out')])).stdout), 'h1:5 h2:1');
    assert.is(mapOf((await salloc('-N2 -n6', ['srun', '-N1', '-n1', ...DRY])).stdout), 'h1:5 h2:1');
    const several = await salloc('-N2 -n6', ['srun', '-N2', '-n2', ...DRY]);
    assert.match(several.stderr, 'one of 2 tasks that srun started');
  });

  check('a heterogeneous job is refused, a resized one is as its script says', async () => {
    const mixed = await run(['salloc', '--quiet', '-N1', ':', '-N2', ...DRY]);
    assert.is(mixed.code, 195);
    assert.match(mixed.stderr, 'SLURM_HET_SIZE is "2": the Slurm job is heterogeneous');
    const resize = 'scontrol update job=$SLURM_JOB_ID NumNodes=2 >&2; . ./slurm_job_${SLURM_JOB_ID}_resize.sh';
    const { stdout, stderr } = await salloc('-N4 --exclusive', ['sh', '-c', `cd ${directory}; ${resize}; ${DRY_LINE}`]);
    assert.is(mapOf(stdout), 'h1:8 h2:8', stderr);
  });

  check('ssh stays possible, and more than there is is not', async () => {
    const job = await salloc('-N3 --ntasks-per-node=2', stcirun('--launcher', 'ssh', '-N2', '--tag=host', 'hostname'));
    assert.is(job.stdout.trim().split('\n').sort().join(), '[h1] h1,[h1] h1,[h2] h2,[h2] h2', job.stderr);
    const many = await salloc('-N3', stcirun('-N4', 'true'));
    assert.equal([many.code, many.stderr], [195, 'stcirun: -N 4: there are 3 hosts. Ask for at most -N 3.\n']);
    const other = await salloc('-N3', stcirun('--host', 'h4', 'true'));
    assert.match(other.stderr, /host h4 is not in Slurm job \d+\. Did you mean/);
  });
});
