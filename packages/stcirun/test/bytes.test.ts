/** Arguments, variables and directories with bytes that are not UTF-8. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'stci-bytes-'));

/** What a line of bash does with stcirun; Node itself could not pass such bytes. */
function bash(line: string): { code: number | null; out: string; err: string } {
  const env = { PATH: process.env['PATH'], HOME: root, NODE: process.execPath, STCIRUN, LC_ALL: 'C' };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], { cwd: root, env, encoding: 'latin1' });
  return { code: status, out: stdout, err: stderr };
}
const RUN = '"$NODE" "$STCIRUN" -n 1';

suite('bytes that are not UTF-8', (test) => {
  test('an argument is refused by its place and its bytes, wherever it stands', () => {
    const last = bash(`${RUN} echo one $'caf\\xe9'`);
    assert.equal([last.code, last.out], [193, '']);
    assert.match(last.err, /Not UTF-8: argument 5, \$'caf\\xe9', cannot be passed on unchanged\.\n {2}Write it in/);
    const option = bash(`${RUN} --wdir $'/caf\\xe9' true`);
    assert.equal([option.code, option.err.includes("$'/caf\\xe9'")], [193, true], option.err);
    const value = bash(`${RUN} -x A=$'\\xff' true`);
    assert.equal([value.code, value.err.includes("argument 4, $'A=\\xff',")], [193, true], value.err);
  });

  test('a replacement character that the user wrote reaches the program', () => {
    assert.equal(bash(`${RUN} printf %s $'x\\xef\\xbf\\xbdy'`), { code: 0, out: 'x\xef\xbf\xbdy', err: '' });
    assert.equal(bash(`export V=$'\\xef\\xbf\\xbd'; ${RUN} sh -c 'printf %s "$V"'`).out, '\xef\xbf\xbd');
  });

  test('a variable that programs would get is refused by its name', () => {
    const run = bash(`export ODD=$'caf\\xe9'; ${RUN} true`);
    assert.equal([run.code, run.out], [193, '']);
    assert.match(run.err, /Not UTF-8: the variable ODD, \$'caf\\xe9', cannot .*\n {2}Leave it out by --unset 'ODD'/);
  });

  test('so is the directory that programs would run in, unless they have another', () => {
    const enter = "mkdir -p $'d\\xe9'; cd $'d\\xe9'; unset PWD OLDPWD;";
    const run = bash(`${enter} ${RUN} true`);
    assert.equal([run.code, run.out], [193, '']);
    assert.match(run.err, /Not UTF-8: the working directory, \$'.*\/d\\xe9', .*\n {2}Name another: --wdir DIR/);
    const away = bash(`${enter} ${RUN} --wdir / pwd`);
    assert.equal(away, { code: 0, out: '/\n', err: '' });
  });

  test.after(() => rmSync(root, { recursive: true, force: true }));
});
