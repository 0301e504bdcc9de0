/** `--alloc` with Slurm itself, on test hosts: whatever ends, nothing is left in its queue. */
// @timeoutMs 120000
// @sameFor node: processes of Slurm and of shells.

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoSlurm, type Hosts, type RunResult } from '@stci/testkit/hosts';

const BIN = fileURLToPath(new URL('../bin', import.meta.url));
const why = whyNoSlurm();
const LONG = { timeoutMs: 60_000 };
/** Ranks run on the login side: here it is about the allocation. */
const HERE = ['--mca', 'allocation=machine'];

let hosts: Hosts;
let env: Record<string, string>;
const children: ChildProcess[] = [];

const argv = (program: string, ...args: readonly string[]): readonly [string, ...string[]] =>
  [process.execPath, join(BIN, `${program}.cjs`), ...args];

const run = (program: string, ...args: readonly string[]): Promise<RunResult> =>
  hosts.run(argv(program, ...args), { env, deadlineMs: 40_000 });

/** A command that runs on; it is the child itself, since what is before it makes way for it. */
function start(...args: readonly string[]): { readonly child: ChildProcess; err(): string } {
  const [file, ...rest] = hosts.loginArgv(argv('stcirun', ...args), { env });
  const child = spawn(file as string, rest, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  let text = '';
  child.stderr?.on('data', (chunk) => (text += String(chunk)));
  children.push(child);
  return { child, err: () => text };
}

/** Name and state of each job in Slurm's queue. */
async function queue(...options: readonly string[]): Promise<string> {
  const { stdout } = await hosts.run(['squeue', '-h', '-o', '%j %T', ...options]);
  return stdout.trimEnd().split('\n').sort().join();
}

async function untilQueue(expected: string): Promise<void> {
  let last = '';
  const isSo = async (): Promise<boolean> => (last = await queue()) === expected;
  await eventually(isSo, { deadlineMs: 20_000, everyMs: 50, what: 'the queue' })
    .catch(() => assert.unreachable(`the queue is '${last}', not '${expected}'`));
}

/** Slurm has the hosts back; it may be cleaning them up still (COMPLETING), which salloc doesn't wait for. */
async function checkGivenBack(): Promise<void> {
  assert.is(await queue('--states=PENDING,RUNNING,SUSPENDED'), '');
}

/** The one that holds, or asks for, the allocation of this name: it is in a session of its own, which Slurm knows. */
async function killSalloc(name: string): Promise<void> {
  const line = `job=$(squeue -h -n ${name} -o %i)
    sid=$(scontrol show job "$job" | sed -n 's/.*Sid=[^:]*:\\([0-9]*\\).*/\\1/p')
    kill -KILL "$sid"`;
  const { code, stderr } = await hosts.run(['sh', '-c', line]);
  assert.is(code, 0, stderr);
}

const ended = ({ child }: { readonly child: ChildProcess }): Promise<void> =>
  eventually(() => child.exitCode !== null || child.signalCode !== null, { deadlineMs: 30_000, what: 'its end' })
    .then(() => undefined);

suite('--alloc with Slurm', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, async () => {
      await body();
      await untilQueue('');
    }, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    hosts = await up(2, { slurm: true });
    env = { STCI_MCA_session_directory: join(hosts.loginHome, 'sessions') };
  }, LONG);
  test.after(async () => {
    for (const { pid } of children) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    await hosts?.down();
  }, LONG);

  check('hosts as asked, given back when stcirun has ended', async () => {
    const { code, stdout, stderr } = await run('stcirun', '--alloc=--comment="a b"', '-N', '2', '--dry-run', 'true');
    assert.equal([code, stdout, stderr], [0, "asks salloc --job-name=true --nodes=2 '--comment=a b'\n", '']);
    const ran = await run('stcirun', ...HERE, '--alloc=-N 1', '-n', '1', 'sh', '-c',
      'squeue -h -o "%j %D"; echo $SLURM_JOB_NODELIST');
    assert.equal([ran.code, ran.stdout, ran.stderr], [0, 'sh 1\nh1\n', '']);
    await checkGivenBack();
  });

  check('Slurm\'s refusals, in its words', async () => {
    const refused = await run('stcirun', '--alloc=-p nope', 'true');
    assert.is(refused.code, 195);
    assert.match(refused.stderr, /Invalid partition name specified\n.*\(salloc ended with exit code 1\)\n {2}'sinfo'/);
    const started = await run('stci', 'start', '--alloc=-w h9');
    assert.is(started.code, 195);
    assert.match(started.stderr, /^stci: Slurm gave no allocation: .*Invalid node name/);
  });

  check('killed while it is used: stcirun, salloc', async () => {
    for (const victim of ['stcirun', 'salloc']) {
      const job = start(...HERE, '--alloc', '-n', '1', 'sleep', '100');
      await untilQueue('sleep RUNNING');
      if (victim === 'stcirun') job.child.kill('SIGKILL');
      else await killSalloc('sleep');
      await untilQueue('');
      await ended(job);
      if (victim === 'salloc') assert.match(job.err(), /is given back: salloc.* has ended \(signal SIGKILL\)/);
    }
  });

  check('an allocation that is cancelled ends the job', async () => {
    const job = start(...HERE, '--alloc', '-n', '1', 'sleep', '100');
    await untilQueue('sleep RUNNING');
    await hosts.run(['scancel', '--name=sleep']);
    await ended(job);
    assert.is(job.child.exitCode, 143, job.err());
    assert.match(job.err(), /Slurm job \d+ has ended: Job allocation \d+ has been revoked/);
  });

  check('in the queue: Ctrl-C, kill -9 of stcirun and of salloc, --immediate', async () => {
    const first = start(...HERE, '--alloc=--exclusive -N 2', '-n', '2', 'sleep', '100');
    await untilQueue('sleep RUNNING');
    const given = await run('stcirun', '--alloc=--exclusive --immediate=1', '-N', '2', 'true');
    assert.is(given.code, 195);
    assert.match(given.stderr, /Requested nodes are busy\n.*\n {2}Give --immediate more seconds/);
    for (const end of ['SIGINT', 'SIGKILL', 'salloc'] as const) {
      const waiting = start(...HERE, '--alloc=--exclusive -N 2', '-n', '2', 'true');
      await untilQueue('sleep RUNNING,true PENDING');
      if (end === 'salloc') await killSalloc('true');
      else waiting.child.kill(end);
      await untilQueue('sleep RUNNING');
      await ended(waiting);
    }
    first.child.kill('SIGTERM');
    await ended(first);
  });

  check('a session: stop, its death', async () => {
    for (const end of ['stop', 'death']) {
      const started = await run('stci', 'start', '--alloc=-N 2', ...HERE, '--name', end);
      assert.equal([started.code, started.stdout], [0, `${end}\n`], started.stderr);
      await untilQueue(`${end} RUNNING`);
      const job = await run('stcirun', '--session', end, '-n', '1', 'echo', 'ok');
      assert.is(job.stdout, 'ok\n', job.stderr);
      if (end === 'stop') {
        assert.is((await run('stci', 'stop', end)).code, 0);
        await checkGivenBack();
      } else {
        const facts = readFileSync(join(hosts.loginHome, 'sessions', end, 'session.json'), 'utf8');
        const { process: { pid } } = JSON.parse(facts) as { process: { pid: number } };
        await hosts.run(['kill', '-KILL', String(pid)]);
      }
    }
  });

  check('with agents of a step: a job, salloc that is killed, a job of its own session', async () => {
    const ran = await run('stcirun', '--alloc', '-N', '2', 'hostname');
    assert.equal([ran.code, ran.stdout.split('\n').sort().join()], [0, ',h1,h2'], ran.stderr);
    const lost = start('--alloc', '-N', '2', 'sh', '-c', 'echo ready >&2; sleep 100');
    await eventually(() => /ready\n.*ready\n/s.test(lost.err()), { deadlineMs: 30_000, what: 'both ranks' })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${lost.err()}`));
    await killSalloc('sh');
    await ended(lost);
    assert.match(lost.err(), /is given back: salloc/);
    assert.not.match(lost.err(), /cancelled/);
    const detached = await run('stcirun', '--alloc', '-N', '2', '--detach', 'sh', '-c', 'sleep 2; hostname');
    assert.is(detached.code, 0, detached.stderr);
    await untilQueue('sh RUNNING');
    const shown = await run('stci', 'attach', detached.stdout.trim());
    assert.equal([shown.code, shown.stdout.split('\n').sort().join()], [0, ',h1,h2'], shown.stderr);
  });

  check('jobs that are queued behind each other, each in its own allocation', async () => {
    const args = ['-q', ...HERE, '--alloc=--exclusive -N 2', '-n', '2', 'true'];
    const jobs = [1, 2, 3].map(() => run('stcirun', ...args));
    assert.equal((await Promise.all(jobs)).map(({ code, stderr }) => [code, stderr]), [[0, ''], [0, ''], [0, '']]);
  });
});
