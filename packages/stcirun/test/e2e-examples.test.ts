/**
 * The plugins of examples/, used from outside as a user would: copied to another place, named by path. Their own tests
 * and their suites are run by plugin-check-suites.
 */
// @timeoutMs 300000
// @sameFor user, node: topologies, detectors and launchers, which core runs as in e2e-plugin.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { run, sh, type Result } from './e2e.js';
import { copyExamples } from './example-place.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));

suite('examples: plugins', (test) => {
  let place = '';
  test.before(() => { place = copyExamples('cabinets', 'phi', 'roll-call', 'torus'); });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const using = (name: string, ...args: string[]): Promise<Result> => run(['--plugin', name, ...args], { cwd: place });

  test('torus: the overlay of a job', async () => {
    const { exitCode, out, err } = await using('torus', '--launcher', 'local', '--host', 'n[1-7]', '-n', '7',
      '--overlay', 'torus:dimensions=2x2x2', ...sh('echo $STCI_HOST'));
    assert.is(exitCode, 0, err);
    assert.equal(out.split('\n').sort().join(' ').trim(), 'n1 n2 n3 n4 n5 n6 n7');
    const flat = ['--overlay', 'torus:dimensions=2x2'];
    const wrong = await using('torus', '--launcher', 'local', '--host', 'a', ...flat, 'true');
    assert.is(wrong.exitCode, 194);
    assert.match(wrong.err, 'option dimensions: expected three integers, such as 4x4x2, got [2,2]');
  }, { timeoutMs: 30_000 });

  test('torus: a program exchanges with its neighbours, and has the serial result', async () => {
    const stencil = join(EXAMPLES, 'torus/stencil.mjs');
    const hosts = ['--client', '--launcher', 'local', '--host', 'a:6,b:6'];
    const { exitCode, out, err } = await using('torus', ...hosts, '-n', '12', process.execPath, stencil, '30',
      'torus:dimensions=3x2x2');
    assert.is(exitCode, 0, err);
    assert.match(out,
      /^12 cells, 4 neighbours each, 30 steps: heat 12\.0+, spread \S+, equal to the serial result\n$/u);
    const { exitCode: wrong, err: unknown } = await run([...hosts, '-n', '2', process.execPath, stencil]);
    assert.is(wrong, 1);
    assert.match(unknown, 'torus');
  }, { timeoutMs: 60_000 });

  test('roll-call: ranks of several hosts find one another, without those that have ended', async () => {
    const call = 'echo "I am $STCI_RANK" >&$ROLL_CALL_FD\n'
      + 'while read -r line <&$ROLL_CALL_FD && test -n "$line"; do echo "$line"; done';
    const job = ['--mca', 'service=rollcall', '--launcher', 'local', '--host', 'a,b', '-n', '4'];
    const { exitCode, out, err } = await using('roll-call', ...job, ...sh(`${call}\n${call}`));
    assert.is(exitCode, 0, err);
    const all = ['0 I am 0', '1 I am 1', '2 I am 2', '3 I am 3'];
    assert.equal(out.split('\n').filter(Boolean).sort(), all.flatMap((line) => Array.from({ length: 8 }, () => line)));
    const some = await using('roll-call', ...job, '--on-failure', 'continue',
      ...sh(`test $STCI_RANK = 2 && exit 3\n${call}`));
    const without = all.filter((line) => !line.startsWith('2'));
    assert.equal(some.out.split('\n').filter(Boolean).sort(), without.flatMap((line) => [line, line, line]), some.err);
    const unnamed = await using('roll-call', '--launcher', 'local', '--host', 'a',
      ...sh('echo "${ROLL_CALL_FD-none}"'));
    assert.equal([unnamed.exitCode, unnamed.out], [0, 'none\n']);
  }, { timeoutMs: 60_000 });

  test('phi: an agent that stands still is reported', async () => {
    const { exitCode, err } = await using('phi', '--launcher', 'local', '--host', 'a,b,c', '-n', '3', '--verbose',
      '--on-failure', 'host=continue', '--mca', 'detector=phi', '--mca', 'detector.phi.period=100ms',
      '--mca', 'detector.latency=10ms', ...sh('test $STCI_RANK = 1 && kill -STOP $PPID; sleep 4'));
    assert.is(exitCode, 200, err);
    assert.match(err, /detector phi: A dead agent is reported after \d+ to \d+ ms, by each neighbour\./u);
    assert.match(err, /host b [^\n]*phi[^\n]*no answer for \d+ ms/u);
  }, { timeoutMs: 60_000 });

  test('cabinets: the first host of each starts the others', async () => {
    const hosts = ['--mca', 'launcher=cabinets', '--launcher', 'local', '--host', 'r1n[1-3],r2n[1-3]'];
    const { out, err } = await using('cabinets', ...hosts, '--dry-run', 'true');
    assert.match(out, '\n  r1n1\n    r1n[2-3]  (2)\n  r2n1\n    r2n[2-3]  (2)\n', err);
    const { exitCode, out: lines } = await using('cabinets', ...hosts, '-n', '6', ...sh('echo $STCI_HOST'));
    assert.equal([exitCode, lines.split('\n').filter(Boolean).length], [0, 6]);
    const { err: counted } = await using('cabinets', ...hosts, '--mca', 'launcher.cabinets.of=0*3', 'true');
    assert.match(counted, 'launcher.cabinets.of = 0*3: expected name, file:PATH or cabinets:0*4,1*4');
  }, { timeoutMs: 30_000 });
});
