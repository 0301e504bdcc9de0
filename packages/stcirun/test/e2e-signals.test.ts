/** The built stcirun, end to end: what signals to it do. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STOP_DELAY_MS, watchSignals } from '@stci/stcirun/internal';
import { assert, eventually, suite } from '@stci/testkit';
import { PROGRAM, sh, start, type Run } from './e2e.js';

const TWO = ['--launcher', 'local', '--host', 'a,b'];
/** The first rank that ends must not take the other with it before that has spoken. */
const EACH = [...TWO, '--on-failure', 'continue'];

/** Starts ranks that say `up` and then wait, by shell `line` between. */
async function up(args: readonly string[], line: string): Promise<Run> {
  const job = start([...args, ...sh(`${line}; echo up; while :; do sleep 0.05; done`)]);
  await eventually(() => job.out().split('up\n').length === 3, { deadlineMs: 10_000, what: 'two ranks' });
  return job;
}

async function gone(job: Run): Promise<void> {
  await eventually(() => job.leftovers().length === 0, { deadlineMs: 5000, what: 'all gone' });
}

suite('stcirun, signals', (test) => {
  test('Ctrl-C once: TERM to all ranks, exit code 130', async () => {
    const job = await up(TWO, 'trap "echo term; exit 0" TERM');
    // As a terminal does: to the whole process group.
    process.kill(-(job.child.pid as number), 'SIGINT');
    const result = await job.result;
    assert.is(result.exitCode, 130, result.err);
    assert.is(result.out.split('term\n').length, 3, result.out);
    assert.match(result.err, 'interrupted: ending 2 ranks on 2 hosts; Ctrl-C again to kill');
    await gone(job);
  }, { timeoutMs: 20_000 });

  test('Ctrl-C twice: KILL', async () => {
    const job = await up([...TWO, '--mca', 'tool.grace=60s'], 'trap "" TERM');
    process.kill(-(job.child.pid as number), 'SIGINT');
    await eventually(() => job.err().includes('again to kill'), { deadlineMs: 5000, what: 'status line' });
    process.kill(-(job.child.pid as number), 'SIGINT');
    const result = await job.result;
    assert.is(result.exitCode, 130, result.err);
    await gone(job);
  }, { timeoutMs: 20_000 });

  test('the grace: KILL follows TERM', async () => {
    const job = await up([...TWO, '--mca', 'tool.grace=200ms'], 'trap "" TERM');
    job.child.kill('SIGTERM');
    const result = await job.result;
    assert.is(result.exitCode, 143, result.err);
    await gone(job);
  }, { timeoutMs: 20_000 });

  test('stopped for long while hosts come up: what agents said meanwhile counts', async () => {
    // The agent starts late, so that its own deadline is far ahead when that of stcirun is over.
    const directory = mkdtempSync(join(tmpdir(), 'stci-signals-'));
    const client = join(directory, 'ssh');
    const script = `for COMMAND; do :; done; cd ${directory}; export HOME=$PWD; >started; [ ! -e late ] || sleep 5`;
    writeFileSync(client, `#!/bin/sh\n${script}\nexec sh -c "$COMMAND"\n`, { mode: 0o755 });
    const args = ['--mca', 'launcher.ssh.client', client, '--mca', 'launcher.handshake', '6s', '--host', 'a', 'true'];
    assert.is((await start(args).result).exitCode, 0); // The agent's bundle is kept.
    rmSync(join(directory, 'started'));
    writeFileSync(join(directory, 'late'), '');
    const job = start(args);
    await eventually(() => existsSync(join(directory, 'started')), { deadlineMs: 5000, what: 'the client' });
    job.child.kill('SIGSTOP');
    // eslint-disable-next-line no-restricted-syntax -- it stands still for longer than its deadlines
    await new Promise((resolve) => setTimeout(resolve, 6500));
    job.child.kill('SIGCONT');
    const result = await job.result;
    assert.is(result.exitCode, 0, result.err);
    rmSync(directory, { recursive: true });
  }, { timeoutMs: 20_000 });

  test('nohup: a HUP that the caller ignores ends nothing', async () => {
    const line = `'${PROGRAM}' ${TWO.join(' ')} sh -c "trap \\"\\" HUP; echo up; sleep 2; echo over"`;
    const child = spawn('sh', ['-c', `trap '' HUP; exec ${line}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    await eventually(() => out.split('up\n').length === 3, { deadlineMs: 10_000, what: 'two ranks' });
    child.kill('SIGHUP');
    const [exitCode] = await once(child, 'close');
    assert.equal([exitCode, out.split('over\n').length], [0, 3]);
  }, { timeoutMs: 20_000 });

  test('CONT right behind TSTP: stcirun does not stop after all', async () => {
    const job = start(['--mca', 'bootcom.lease=1s', ...TWO, ...sh('echo up; sleep 3')]);
    await eventually(() => job.out().split('up\n').length === 3, { deadlineMs: 10_000, what: 'two ranks' });
    job.child.kill('SIGTSTP');
    // eslint-disable-next-line no-restricted-syntax -- less than stcirun waits before it stops
    await new Promise((resolve) => setTimeout(resolve, 20));
    job.child.kill('SIGCONT');
    const result = await job.result;
    assert.is(result.exitCode, 0, result.err);
  }, { timeoutMs: 20_000 });

  // The signal itself comes before the time is over or between both, as it happens; the second is always between both.
  for (const come of ['while this process is busy', 'when the time is over'] as const) {
    test(`CONT before a stop that is late, as on a busy machine, ${come}: stcirun does not stop after it`, async () => {
      const { kill } = process;
      const seen: string[] = [];
      process.kill = (pid, signal) => {
        if (signal !== 'SIGSTOP') return kill.call(process, pid, signal);
        seen.push('stop');
        return true;
      };
      const pause = (on: boolean): void => {
        seen.push(on ? 'pause' : 'go on');
        if (!on) return;
        const isBusy = come === 'while this process is busy';
        // One of the same time as the stop's, begun after it, ends right after it.
        if (!isBusy) process.nextTick(() => setTimeout(() => process.emit('SIGCONT'), STOP_DELAY_MS));
        setTimeout(() => {
          if (isBusy) process.kill(process.pid, 'SIGCONT');
          for (const endMs = performance.now() + 100; performance.now() < endMs;);
        }, 10);
      };
      const nothing = (): void => undefined;
      const unwatch = watchSignals([], { end: nothing, forward: nothing, detach: nothing, pause });
      try {
        process.kill(process.pid, 'SIGTSTP');
        await eventually(() => seen.includes('go on'), { what: 'CONT' });
        await new Promise((resolve) => void setImmediate(resolve));
        assert.equal(seen, ['pause', 'go on']);
      } finally {
        unwatch();
        process.kill = kill;
      }
    });
  }

  test('USR1 is sent on', async () => {
    const job = await up(EACH, 'trap "echo usr1; exit 4" USR1');
    job.child.kill('SIGUSR1');
    const result = await job.result;
    assert.is(result.exitCode, 4, result.err);
    assert.is(result.out.split('usr1\n').length, 3);
  }, { timeoutMs: 20_000 });

  test('--forward-signals INT makes Ctrl-C an INT to every rank', async () => {
    const job = await up([...EACH, '--forward-signals', 'INT'], 'trap "echo int; exit 5" INT');
    job.child.kill('SIGINT');
    const result = await job.result;
    assert.is(result.exitCode, 5, result.err);
    assert.is(result.out.split('int\n').length, 3);
  }, { timeoutMs: 20_000 });

  test('TSTP stops ranks and stcirun, CONT wakes them', async () => {
    const job = start([...TWO, ...sh('while :; do echo tick; sleep 0.05; done')]);
    await eventually(() => job.out().split('tick\n').length > 4, { deadlineMs: 10_000, what: 'ticks' });
    job.child.kill('SIGTSTP');
    let before = -1;
    await eventually(
      () => {
        const still = job.out().length === before;
        before = job.out().length;
        return still;
      },
      { deadlineMs: 5000, what: 'silence', everyMs: 300 },
    );
    job.child.kill('SIGCONT');
    await eventually(() => job.out().length > before + 20, { deadlineMs: 5000, what: 'ticks again' });
    job.child.kill('SIGINT');
    assert.is((await job.result).exitCode, 130);
    await gone(job);
  }, { timeoutMs: 30_000 });
});
