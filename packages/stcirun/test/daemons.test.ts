/** Daemons that programs leave behind: ended, and told in the message, the report and JSON. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { run, sh, start } from './e2e.js';

const root = mkdtempSync(join(tmpdir(), 'stci-daemons-'));
const DAEMON = 'setsid sleep 600 </dev/null >/dev/null 2>&1 & until [ "$(ps -o sid= -p $!)" -eq $! ]; do :; done';

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

  test('where there was none, nothing is told', async () => {
    const result = await run(['-n', '2', '--json', 'true']);
    const last = JSON.parse(result.out.trimEnd().split('\n').at(-1) as string) as { report: { daemons: unknown } };
    assert.equal([result.exitCode, result.err, last.report.daemons], [0, '', []]);
  });

  test.after(() => rmSync(root, { recursive: true, force: true }));
});
