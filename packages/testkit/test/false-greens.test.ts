/**
 * Everything that could make a broken test file pass, run through the real runner in its own process, which must fail
 * it. The files are in test/fixtures; one fixture per trap.
 */

// @timeoutMs 180000
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MARK_VARIABLE } from '@stci/compliance/record';
import { assert, eventually, suite } from '@stci/testkit';
import { endAll, marked } from '../dist/runner/leftovers.js';

const here = dirname(fileURLToPath(import.meta.url));
const runner = join(here, '../../../scripts/test.mjs');
const RUNNER = pathToFileURL(join(here, '../dist/runner/main.js')).href;

interface Run {
  readonly code: number | null;
  readonly output: string;
  readonly lastLine: string;
}

function run(...args: string[]): Run {
  return runPatiently('1', ...args);
}

function runPatiently(patience: string, ...args: string[]): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, ...args],
    { encoding: 'utf8', env: { ...process.env, STCI_TEST_PATIENCE: patience } });
  return { code: status, output: stdout + stderr, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
}

function runFixture(name: string, ...more: string[]): Run {
  return run('--file', join(here, `fixtures/${name}.fixture.js`), ...more);
}

/** Fixture, last line of the runner, and what its output must say. */
const RED: readonly (readonly [name: string, lastLine: string, ...says: string[]])[] = [
  ['before-throws', '0 passed, 1 failed', 'before throws › never ran', 'before is broken'],
  ['after-each-throws', '0 passed, 2 failed', 'the test is broken', 'and then: Error: afterEach is broken'],
  ['after-throws', '1 passed, 1 failed', 'after throws › after hook', 'after is broken'],
  ['throws-undefined', '0 passed, 4 failed', 'was thrown: undefined', 'was thrown: null', 'odd'],
  ['no-suite', '0 passed, 1 failed', 'no count record'],
  ['no-tests', '0 passed, 2 failed', 'has no tests'],
  ['never-settles', '1 passed, 1 failed', 'Not done within 50 ms: never settles › waits'],
  ['blocks', '1 passed, 2 failed', 'Not done within 50 ms: blocks › too long\n', 'blocks › too long after an await'],
  ['exits-early', '1 passed, 1 failed', 'exited with code 0 before its tests ended: in exits early › exits'],
  ['exits-while-loading', '0 passed, 1 failed', 'exited with code 0 before its tests ended: before any test'],
  ['drains', '1 passed, 1 failed', 'All tests passed, but it ended with code 13'],
  ['exits-after', '1 passed, 1 failed', 'process.exit was called, after first › passes'],
  ['asserts-nothing', '2 passed, 3 failed, 2 skipped', 'FAIL', 'The test asserted nothing.',
    'skipped 1: there is no such machine (asserts-nothing.fixture.ts 1)', 'skipped 1: there is no second half'],
  ['unhandled', '0 passed, 2 failed', 'nobody cares', 'thrown by a timer'],
  ['late-rejection', '1 passed, 2 failed', 'late rejection', 'late exception', 'after late › passes'],
  ['late-suite', '1 passed, 2 failed', 'call suite() before any await'],
  ['test-in-test', '0 passed, 1 failed', 'test "inner" was registered after define returned'],
  ['lingers', '1 passed, 1 failed', 'did not end 3000 ms after its last test; still open:'],
  ['spins', '0 passed, 1 failed', 'Killed: not done within its 700 ms'],
  ['leaves-child', '1 passed, 1 failed', 'behind (killed now): sleep 4711'],
  ['killed', '0 passed, 1 failed', 'no count record', 'signal SIGKILL'],
  ['foreign', '0 passed, 1 failed', 'no count record: does it use @stci/testkit?'],
];

suite('false greens', (test) => {
  for (const [name, lastLine, ...says] of RED) {
    test(`${name} is red`, () => {
      const { code, output, lastLine: found } = runFixture(name);
      for (const text of says) assert.match(output, text);
      assert.is(found, lastLine, output);
      assert.is(code, 1);
    }, { timeoutMs: 30_000 });
  }
});

suite('runner', (test) => {
  for (const [signal, exitCode] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]] as const) {
    test(`${signal} ends it, what runs beside it, its tests and what they started`, async () => {
      const mark = [process.env[MARK_VARIABLE] ?? [], `runner-test-${process.pid}-${signal}`].flat().join('/');
      const fixtures = ['good', 'waits-with-child', 'good'].flatMap((name) => (
        ['--file', join(here, `fixtures/${name}.fixture.js`)]));
      const child = spawn(process.execPath, ['--input-type=module', '-e', `
        const { runTests } = await import('${RUNNER}');
        const { spawn } = await import('node:child_process');
        const beside = () => new Promise((resolve) => {
          spawn('sleep', ['4714'], { detached: true }).once('exit', () => resolve(['it was ended']));
        });
        process.exitCode = await runTests('.', ${JSON.stringify([...fixtures, '--jobs', '1'])}, beside);`,
      ], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, [MARK_VARIABLE]: mark } });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += String(chunk)));
      const code = new Promise((resolve) => child.once('close', resolve));
      // One that another runner with the same mark above it might have.
      const sibling = `${mark}0`;
      spawn('sleep', ['4715'], { env: { ...process.env, [MARK_VARIABLE]: sibling }, stdio: 'ignore', detached: true });
      const started = ['sleep 4713', 'sleep 4714'];
      await eventually(() => started.every((command) => marked(mark).some((each) => each.command === command)),
        { deadlineMs: 20_000, what: 'the processes' });
      try {
        child.kill(signal);
        assert.is(await code, exitCode, output);
        assert.equal([marked(mark), marked(sibling).length], [[], 1], 'its own, and no others');
        assert.ok(output.endsWith(`\nerror: interrupted by ${signal}: 1 of 3 files were done\n`
          + '1 passed, 1 failed, 1 skipped\n'), output);
      } finally {
        await endAll(mark);
        await endAll(sibling);
      }
    }, { timeoutMs: 30_000 });
  }

  test('a good file is green, with its skipped test and the reason', () => {
    const { code, output, lastLine } = runFixture('good');
    assert.is(lastLine, '1 passed, 0 failed, 1 skipped', output);
    assert.match(output, '\nskipped 1: no such machine here (good.fixture.ts 1)\n');
    assert.is(code, 0);
  }, { timeoutMs: 30_000 });

  test('one red file among green ones is red', () => {
    const { code, lastLine } = runFixture('good', '--file', join(here, 'fixtures/after-throws.fixture.js'));
    assert.is(lastLine, '2 passed, 1 failed, 1 skipped');
    assert.is(code, 1);
  }, { timeoutMs: 30_000 });

  test('--grep runs only what it names', () => {
    const { code, lastLine, output } = runFixture('never-settles', '--grep', 'settles › passes');
    assert.is(lastLine, '1 passed, 0 failed', output);
    assert.is(code, 0);
  }, { timeoutMs: 30_000 });

  test('--grep that names nothing is red', () => {
    const { code, lastLine, output } = runFixture('good', '--grep', 'no test is called so');
    assert.is(lastLine, '0 passed, 1 failed');
    assert.match(output, 'no test ran');
    assert.is(code, 1);
  }, { timeoutMs: 30_000 });

  test('deadlines are multiplied by how many files may share a core, unless it is said by how much', () => {
    const path = join(here, 'fixtures/never-settles.fixture.js');
    const jobs = String(7 * availableParallelism());
    for (const [patience, ms] of [['', 350], ['2', 100]] as const) {
      const { output } = runPatiently(patience, '--file', path, '--jobs', jobs);
      assert.match(output, new RegExp(`Not done within ${ms} ms: never settles`), output);
    }
  }, { timeoutMs: 30_000 });

  test('what failed beside the tests counts', async () => {
    const args = JSON.stringify(['--file', join(here, 'fixtures/good.fixture.js')]);
    const code = `const { runTests } = await import('${RUNNER}');`
      + `process.exitCode = await runTests('.', ${args}, async () => ['lint found something']);`;
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    assert.match(ended.stdout, /error: lint found something\n1 passed, 1 failed, 1 skipped\n$/);
    assert.is(ended.status, 1);
  }, { timeoutMs: 30_000 });

  test('a word that names no file, an unknown option and a missing file are red', () => {
    const wrong = [['no-such-file'], ['--colour', 'x'], ['--file', 'nowhere.js'], ['--jobs', '0'], ['--other', 'x']];
    for (const args of wrong) {
      const { code, lastLine, output } = run(...args);
      assert.is(lastLine, '0 passed, 1 failed', output);
      assert.is(code, 2);
      assert.match(output, /^error: /m);
    }
  }, { timeoutMs: 30_000 });
});
