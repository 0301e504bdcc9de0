/** Daemons that programs leave behind: ended, and told in the message, the report and JSON. */

import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { PROGRAM, run, sh, start } from './e2e.js';

const root = mkdtempSync(join(tmpdir(), 'stci-daemons-'));
/** Until what was put into the background last has a session of its own. */
const WAIT = 'until [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done';
const DAEMON = `setsid sleep 600 </dev/null >/dev/null 2>&1 & ${WAIT}`;
/** A program whose command line tells it from all others. */
const ROUND = join(root, 'sleep');
copyFileSync('/bin/sleep', ROUND);

suite('daemons of programs', (test) => {
  test('one that left its group is ended and told on standard error, in the report and in JSON', async () => {
    const file = join(root, 'report.json');
    const job = start(['-n', '2', `--exit-report=json:${file}`, ...sh(DAEMON)]);
    const result = await job.result;
    assert.is(result.exitCode, 0, result.err);
    assert.match(result.err, /ended 2 processes that ranks had left behind on \S+\n/);
    const report = JSON.parse(readFileSync(file, 'utf8')) as { daemons: { host: string; count: number }[] };
    assert.equal(report.daemons.map(({ count }) => count), [2]);
    const text = await run(['-n', '1', '--exit-report', ...sh(DAEMON)]);
    assert.match(text.err, /\ndaemons ended on \S+: 1\njob exit code 0\n/);
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 3000, what: 'all gone' });
  }, { timeoutMs: 15_000 });

  test('so is one that cleared its environment', async () => {
    const job = start(['-n', '1', ...sh(`setsid env -i '${ROUND}' 600 </dev/null >/dev/null 2>&1 & ${WAIT}`)]);
    const result = await job.result;
    assert.match(result.err, /ended 1 process that ranks had left behind on /);
    await eventually(() => !isRunning(ROUND), { deadlineMs: 3000, what: 'its end' });
  });

  test('so is one where stcirun was started as a script of Node', async () => {
    const daemon = `setsid env -i '${ROUND}' 602 </dev/null >/dev/null 2>&1 & ${WAIT}`;
    const result = await run(['-n', '1', ...sh(daemon)], { nodeArgs: [] });
    assert.match(result.err, /ended 1 process that ranks had left behind on /);
    await eventually(() => !isRunning(ROUND), { deadlineMs: 3000, what: 'its end' });
  });

  test('so is one of an agent in a process of its own', async () => {
    const daemon = `setsid env -i '${ROUND}' 601 </dev/null >/dev/null 2>&1 & ${WAIT}`;
    const result = await run(['--launcher', 'local', '--host', 'a,b', '-n', '2', ...sh(daemon)]);
    assert.match(result.err, /ended 2 processes that ranks had left behind on a,b/);
    await eventually(() => !isRunning(ROUND), { deadlineMs: 3000, what: 'their end' });
  });

  test('so is a stcirun that cleared its environment, with its ranks', async () => {
    const isUp = join(root, 'up');
    const inner = `sh -c ': >${isUp}; exec ${ROUND} 605'`;
    const line = `setsid env -i PATH="$PATH" '${PROGRAM}' -n 1 ${inner} </dev/null >/dev/null 2>&1 &
      until [ -e '${isUp}' ]; do :; done`;
    const result = await run(['-n', '1', ...sh(line)]);
    assert.is(result.exitCode, 0, result.err);
    await eventually(() => !isRunning(ROUND), { deadlineMs: 6000, what: 'its end' });
  }, { timeoutMs: 30_000 });

  for (const agent of ['inline', 'process', 'thread']) {
    const method = ['--mca', `launcher.root.method=${agent}`];
    test(`stcirun is killed: they end as its ranks do, agent: ${agent}`, async () => {
      const clears = agent === 'thread' ? '' : 'env -i ';
      const line = `setsid ${clears}'${ROUND}' 603 </dev/null >/dev/null 2>&1 & ${WAIT}; echo up; sleep 604`;
      const job = start(['-n', '1', ...method, ...sh(line)]);
      await eventually(() => job.out() === 'up\n', { deadlineMs: 10_000, what: 'the rank' });
      assert.ok(isRunning(ROUND));
      job.child.kill('SIGKILL');
      await job.result;
      const isOver = (): boolean => !isRunning(ROUND) && job.leftovers().length === 0;
      await eventually(isOver, { deadlineMs: 9000, what: 'their end' });
    }, { timeoutMs: 30_000 });
  }

  test('where there was none, nothing is told', async () => {
    const result = await run(['-n', '2', '--json', 'true']);
    const last = JSON.parse(result.out.trimEnd().split('\n').at(-1) as string) as { report: { daemons: unknown } };
    assert.equal([result.exitCode, result.err, last.report.daemons], [0, '', []]);
  });

  test.after(() => rmSync(root, { recursive: true, force: true }));
});

function isRunning(program: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith(program);
    } catch {
      return false;
    }
  });
}
