/** What `node test.js` prints where a suite fails, as a component's author sees it: little, and his own lines. */

// @timeoutMs 600000
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, patient, suite } from '@stci/testkit';

/** The watchdog waits for 10 s of processor time, which a busy machine gives late. */
const LONG = { timeoutMs: 260_000 };

interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
  readonly ms: number;
}

/** Without the runner's variables, as outside of this repository. */
function run(name: string): Run {
  const startMs = performance.now();
  const path = fileURLToPath(new URL(`fixtures/${name}.fixture.js`, import.meta.url));
  const { STCI_TEST_RECORD: _record, STCI_TEST_GREP: _grep, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--enable-source-maps', path], {
    encoding: 'utf8', env, timeout: patient(250_000), killSignal: 'SIGKILL',
  });
  return { code: status, output: stdout, errors: stderr, ms: performance.now() - startMs };
}

suite('output of a suite that fails', (test) => {
  let failing: Run;
  test.before(() => { failing = run('failing'); }, LONG);

  test('promise, counter-example, and where the author\'s code has thrown; once, and as it comes', () => {
    const { code, output } = failing;
    assert.is(code, 1);
    assert.match(output, /FAIL ring: route, diameter\n {4}topology\.route is broken\. .*\n {8}found: RangeError: /);
    assert.match(output, /no such way \(.*failing\.fixture\.ts:16\)\n/);
    assert.match(output, 'again: topologyExample(component, {"promise":"route","size":4,"source":1,"target":3})\n');
    assert.match(output, /FAIL one is two\n {4}Assertion: .*\n[^]*? {8}at .*failing\.fixture\.ts:26\n/);
    assert.not.ok(/compliance\/(src|dist)\//.test(output), output);
    assert.ok(output.indexOf('topology.route is broken') < output.indexOf('FAIL one is two'));
    assert.is(output.split('one is two').length, 3, 'where it fails, and in the list at the end');
  }, LONG);

  test('making an example smaller ends in time, though each try takes some', () => {
    const { output, ms } = failing;
    assert.match(output, 'test.slow is broken. It is slow.');
    // Of 10^9 tries of 0.1 s each, or 2000.
    assert.ok(ms < 40_000, `${ms} ms`);
  }, LONG);

  test('a call that does not return is named, with its line, and the process ends', () => {
    const { code, output, errors } = run('hangs');
    assert.is(code, 1, `${output}${errors}`);
    assert.match(output, 'FAIL topology compliance: ');
    assert.match(output, /› ring: links\n {4}a call has not returned for \d+ s\./);
    assert.match(output, /\n {4}topology\.links: topologyExample\(component, \{"promise":"links","size":5\}\)\n/);
    assert.match(output, /\n {4}in found \(.*hangs\.fixture\.[tj]s:\d+\)\n/);
  }, LONG);

  test('a call that is slow, and comes back, does not end the tests', () => {
    const { code, output, errors } = run('slow');
    assert.is(code, 0, `${output}${errors}`);
    assert.not.ok(output.includes('has not returned'), output);
  }, LONG);

  test('a case that is wrong is one message, with the author\'s line', () => {
    const { code, output, errors } = run('misspelt');
    assert.is(code, 1, output);
    assert.match(errors, /no field avoidDead\. Did you mean avoidsDead\? .*\n +at .*misspelt\.fixture\.ts:6\n$/);
    assert.not.ok(errors.includes('early exit'), errors);
  }, LONG);
});
