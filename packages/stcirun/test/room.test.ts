/** Under a limit of processes: a clear error, where Node would abort without a word. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
/** A user who has no processes: only root can become one. */
const OTHER = { uid: 64_999, gid: 64_999 };
const isRoot = process.getuid?.() === 0;

function limited(limit: number, code: string[]): { status: number | null; out: string; err: string } {
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };
  const line = `ulimit -u ${limit} && exec "$0" "$@"`;
  const argv = ['-c', line, process.execPath, ...code];
  const { status, stdout, stderr } = spawnSync('bash', argv, { ...OTHER, cwd: '/', env, encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

const canRead = isRoot && limited(1000, ['-e', `require('fs').readFileSync(${JSON.stringify(STCIRUN)})`]).status === 0;

suite('limit of processes', (test) => {
  const why = isRoot ? 'another user cannot read this directory' : 'only root can become another user';
  test.skipIf(!canRead, why, 'too low a one is told before anything starts', () => {
    for (const limit of [10, 16, 24]) {
      const run = limited(limit, [STCIRUN, '-n', '1', 'true']);
      assert.equal([run.status, run.out], [197, ''], run.err);
      assert.match(run.err, new RegExp(`^stcirun: The limit of .*ulimit -u ${limit}.* needs 25 more\\.\\n.*Raise`));
    }
    assert.is(limited(40, [STCIRUN, '-n', '1', 'true']).status, 0);
  }, { timeoutMs: 15_000 });
});
