/** stcirun inside a rank: alone, in a session, from a shell script and from make, and three deep. */
// @timeoutMs 180000
// @sameFor user: processes and signals are e2e-run's and e2e-signals'.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { withPlace } from './e2e-place.js';
import { run, sh, start } from './e2e.js';

const STCIRUN = [process.execPath, fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url))];
const LONG = { timeoutMs: 60_000 };
const TWO = [...STCIRUN, '-n', '2'];
const SHOW = sh('echo $STCI_RANK of $STCI_SIZE');
const WORDS = '0 of 2\n1 of 2\n';
const sorted = (text: string): string =>
  text.split('\n').filter((line) => line !== '').sort().map((line) => `${line}\n`).join('');

suite('stcirun inside a rank', (test) => {
  let directory = '';
  test.before(() => { directory = mkdtempSync(join(tmpdir(), 'stci-nested-')); });
  test.after(() => rmSync(directory, { recursive: true }));

  test('is a run of its own, two and three deep', async () => {
    for (const depth of [1, 2]) {
      const outer = Array.from({ length: depth - 1 }, () => [...STCIRUN, '-n', '1']).flat();
      const { exitCode, out, err } = await run(['-n', '1', ...outer, ...TWO, ...SHOW]);
      assert.equal([exitCode, sorted(out), err], [0, WORDS, '']);
    }
  }, LONG);

  test('in a session as well, whatever names it', withPlace(async (place) => {
    place.start('lab');
    const named = await place.run('lab', ['-n', '1', ...TWO, ...SHOW]).result;
    assert.equal([named.exitCode, sorted(named.out), named.err], [0, WORDS, '']);
    const env = { ...place.env, STCI_SESSION: 'lab' };
    const byVariable = await run(['-n', '1', ...TWO, ...SHOW], { env });
    assert.equal([byVariable.exitCode, sorted(byVariable.out), byVariable.err], [0, WORDS, '']);
    const inIt = sh('echo in $STCI_JOB_ID');
    const folder = `STCI_MCA_session_directory=${place.env['STCI_MCA_session_directory']}`;
    const options = ['-x', 'STCI_SESSION=lab', '-x', folder];
    const inner = await run(['-n', '1', ...options, ...STCIRUN, '-n', '1', ...inIt], { env: place.env });
    assert.equal([inner.exitCode, inner.out], [0, 'in 3\n'], inner.err);
  }), LONG);

  test('from a shell script, whose failures are its own', async () => {
    const script = join(directory, 'script');
    writeFileSync(script, `#!/bin/sh\nset -e\n${[...TWO, ...SHOW].map((word) => `'${word}'`).join(' ')}\n`
      + `'${STCIRUN.join("' '")}' -n 1 sh -c 'exit 7'\n`);
    chmodSync(script, 0o755);
    const found = await run(['-n', '1', script]);
    assert.equal([found.exitCode, sorted(found.out)], [7, WORDS], found.err);
  }, LONG);

  test.skipIf(spawnSync('make', ['--version']).status !== 0, 'make is not here', 'from make', async () => {
    const recipe = `'${STCIRUN.join("' '")}' -n 1 sh -c 'echo $@ $$STCI_SIZE'`;
    writeFileSync(join(directory, 'Makefile'), `all: a b\na b:\n\t@${recipe}\n`);
    const made = await run(['-n', '2', 'make', '-s', '-j2', '-C', directory]);
    assert.equal([made.exitCode, sorted(made.out)], [0, 'a 1\na 1\nb 1\nb 1\n'], made.err);
  }, LONG);

  test('ends with its rank: nothing is left, however the outer one ends', async () => {
    for (const [signal, code] of [['SIGINT', 130], ['SIGKILL', null]] as const) {
      const outer = start(['-n', '1', ...TWO, ...sh('echo up; exec sleep 1000')]);
      await eventually(() => sorted(outer.out()) === 'up\nup\n', { deadlineMs: 20_000, what: 'the inner ranks' });
      outer.child.kill(signal);
      assert.is((await outer.result).exitCode, code);
      await eventually(() => outer.leftovers().length === 0, { deadlineMs: 20_000, what: 'nothing left' });
    }
  }, LONG);
});
