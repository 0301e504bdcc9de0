/** The built stci: its commands, help and refusals. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const PROGRAM = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));

function stci(...args: string[]): { exitCode: number | null; out: string; err: string } {
  const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', env });
  return { exitCode: status, out: stdout, err: stderr };
}

suite('stci', (test) => {
  test('tells its commands, and each its own help', () => {
    const overview = stci();
    assert.is(overview.exitCode, 0);
    assert.is(stci('--help').out, overview.out);
    for (const command of ['info', 'doctor', 'version', 'hosts expand', 'hosts fold']) {
      assert.match(overview.out, `\n  ${command} `);
      const help = stci('help', ...command.split(' ')).out;
      assert.match(help, `Usage: stci ${command}`);
      assert.is(stci(...command.split(' '), '--help').out, help);
      for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
    }
  });

  test('info: everything, one component, as JSON, with reasons', () => {
    assert.match(stci('info').out, 'framework launcher ');
    assert.match(stci('info', 'launcher:tree').out, 'launcher.tree.arity');
    const info = JSON.parse(stci('info', 'errmgr', '--why', '--json', '--mca', 'errmgr=continue').out);
    const [framework] = info.frameworks;
    assert.equal(framework.why.candidates.filter((one: { chosen: boolean }) => one.chosen).length, 1);
    assert.is(framework.why.candidates.find((one: { chosen: boolean }) => one.chosen).name, 'continue');
  });

  test('host lists, there and back', () => {
    assert.is(stci('hosts', 'expand', 'n[08-10],x').out, 'n08\nn09\nn10\nx\n');
    assert.is(stci('hosts', 'fold', 'n1', 'n2', 'n3').out, 'n[1-3]\n');
  });

  const BAD: readonly (readonly [args: string, exitCode: number, ...words: string[]])[] = [
    ['inof', 193, "'stci inof'", 'Did you mean info?'],
    ['hosts expnd x', 193, 'hosts expand'],
    ['hosts', 193, 'hosts expand'],
    ['hosts expand', 193, 'no host list'],
    ['hosts expand n[1-', 195, 'bracket'],
    ['info launchr', 194, 'launcher'],
    ['info launcher:tre', 194, 'tree'],
    ['info --jsn', 193, '--jsn'],
    ['info --mca x', 193, 'KEY=VALUE'],
    ['info --mca x.y=1', 194, 'x.y'],
    ['version now', 193, 'now'],
  ];
  for (const [args, exitCode, ...words] of BAD) {
    test(`refused: stci ${args}`, () => {
      const result = stci(...args.split(' '));
      assert.is(result.exitCode, exitCode, result.err);
      for (const word of words) assert.match(result.err, word);
      assert.not.match(result.err, /^\s+at /mu);
    });
  }
});
