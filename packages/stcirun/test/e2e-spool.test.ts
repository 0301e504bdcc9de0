/** What a session keeps of a job's output, and who reads it slowly, late, or beside others. */
// @timeoutMs 240000
// @sameFor user, node: bounds of what is kept; its files are session-spool's and session-place's.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobStatus } from '@stci/core/session';
import { assert, suite } from '@stci/testkit';
import { sh } from './e2e.js';
import { LONG, soon, withPlace, type Place } from './e2e-place.js';

/** Of the process of session `night`. */
function residentBytes({ directory }: Place): number {
  const facts = JSON.parse(readFileSync(join(directory, 'sessions/night/session.json'), 'utf8')) as {
    process: { pid: number };
  };
  const status = readFileSync(`/proc/${facts.process.pid}/status`, 'latin1');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]) * 1024;
}

suite('spools of a session', (test) => {
  test('a front-end that is stopped loses nothing, and costs the session no memory', withPlace(async (place) => {
    place.start('night', '--mca', 'iof.window=1MiB');
    // Its process has the memory that a job of such output needs in any case.
    assert.is((await place.run('night', sh('seq 4000000')).result).exitCode, 0);
    const job = place.run('night', ['-n', '1', ...sh('seq 4000000; exit 3')], { limitMs: 70_000 });
    await soon(() => job.out() !== '', 'output');
    job.child.kill('SIGSTOP');
    const before = residentBytes(place);
    await soon(() => place.states().endsWith('night.2 ended'), 'the end of the job');
    const grown = residentBytes(place) - before;
    job.child.kill('SIGCONT');
    const { exitCode, out, err } = await job.result;
    assert.equal([exitCode, err], [3, 'stcirun: Rank 0 on a ended with status 3\n']);
    const lines = out.split('\n');
    assert.equal([lines.length, lines.findIndex((line, i) => line !== String(i + 1))], [4_000_001, 4_000_000]);
    assert.ok(grown < 24 << 20, `${grown} bytes more, of 30 MiB of output`);
  }), LONG);

  test('a full spool tells how much was dropped; two that look at one job both see it to its end',
    withPlace(async (place) => {
      // What has not been written yet is kept besides, a window at most: the disk may be slow.
      place.start('night', '--mca', 'session.spool.max=1MiB', '--mca', 'iof.window=512KiB');
      const go = join(place.directory, 'go');
      const line = sh(`seq 1000000; until [ -e ${go} ]; do sleep 0.05; done; echo over; exit 4`);
      await place.run('night', ['--detach', '-n', '1', ...line]).result;
      const bytes = 6_888_896;
      const now = (): JobStatus | undefined => place.session().jobs[0];
      await soon(() => now()?.outputBytes === bytes, 'all output');
      const first = place.attach('--exit-report=json', 'night.1');
      await soon(() => first.out().includes('1000000\n'), 'what was kept');
      const second = place.attach('night.1');
      await soon(() => now()?.followers === 2, 'the second');
      writeFileSync(go, '');
      const [one, two] = await Promise.all([first.result, second.result]);
      assert.equal([one.exitCode, two.exitCode, two.out], [4, 4, 'over\n'], two.err);
      const dropped = bytes + 'over\n'.length - one.out.length;
      assert.is(one.out.slice(-20), '999999\n1000000\nover\n');
      assert.ok(dropped > 5e6, `${dropped} bytes dropped`);
      assert.match(one.err, `${dropped} bytes of output were dropped before they could be shown (session.spool.max)`);
      assert.match(one.err, `"bytes": ${dropped}`);
    }), LONG);
});
