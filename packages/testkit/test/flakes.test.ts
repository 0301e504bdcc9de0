/** `npm run flakes` in a workspace of its own, whose tests fail now and then, hang or pass. */

// @timeoutMs 300000
// @sameFor user, node: what it starts, the runner, is run by each of them.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { MARK_VARIABLE } from '@stci/compliance/record';
import { marked } from '../dist/runner/leftovers.js';

const FLAKES = new URL('../dist/flakes/main.js', import.meta.url).href;
const RUNNER = new URL('../dist/runner/main.js', import.meta.url).href;
const LOAD = new URL('../dist/flakes/load.js', import.meta.url).href;
const TESTKIT = new URL('../dist/index.js', import.meta.url).href;
const LONG = { timeoutMs: 60_000 };

/** Each writes a byte to a file as it runs. */
const FILES = {
  third: "assert.ok(count() % 3 !== 0, 'one in three')",
  good: 'assert.ok(count() > 0)',
  hangs: 'count(); return new Promise((resolve) => setTimeout(resolve, 60_000))',
};

suite('npm run flakes', (test) => {
  let root = '';
  const children: ChildProcess[] = [];

  test.beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stci-flakes-test-'));
    write('scripts/test.mjs', `import { runTests } from '${RUNNER}';
      process.exitCode = await runTests('${root}', process.argv.slice(2));`);
    for (const [name, body] of Object.entries(FILES)) {
      write(`packages/one/test/${name}.test.ts`, '');
      write(`packages/one/dist-test/${name}.test.js`, `import { appendFileSync, readFileSync } from 'node:fs';
        import { assert, suite } from '${TESTKIT}';
        const count = () => {
          appendFileSync('${root}/${name}', 'x');
          return readFileSync('${root}/${name}').length;
        };
        suite('one', (test) => test('is', () => { ${body}; }, { timeoutMs: 60_000 }));`);
    }
  });
  test.afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  const runs = (name: string): number => existsSync(join(root, name)) ? readFileSync(join(root, name)).length : 0;

  const program = (args: readonly string[]): string[] => ['--input-type=module', '-e',
    `const { runFlakes } = await import('${FLAKES}');
    process.exitCode = await runFlakes('${root}', ${JSON.stringify(args)});`];

  function flakes(...args: string[]): { code: number | null; out: string; errors: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, program(args), { encoding: 'utf8', cwd: root });
    return { code: status, out: stdout, errors: stderr };
  }

  test('a file that fails one time in three is found with its share, its output kept; it goes on', () => {
    const out = join(root, 'out');
    const first = flakes('third', 'good', '--runs', '3', '--under', 'idle,shuffled', '--out', out);
    assert.is(first.code, 1, first.out + first.errors);
    assert.match(first.out, /^2 test files, 3 runs of each under each condition:\n {2}idle: one file at a time\n/);
    assert.match(first.out, /\nidle +shuffled +file\n1\/3 +1\/3 +packages\/one\/test\/third\.test\.ts\n/);
    assert.match(first.out, '2 files, 12 runs, 1 files red at least once');
    const red = readdirSync(join(out, 'red')).sort();
    assert.equal(red, ['packages-one-test-third.idle.2.txt', 'packages-one-test-third.shuffled.3.txt']);
    assert.match(readFileSync(join(out, 'red', red[0] as string), 'utf8'), 'one in three');
    const again = flakes('third', 'good', '--runs', '4', '--under', 'idle,shuffled', '--out', out);
    assert.match(again.out, '(it has 12 runs)');
    assert.match(again.out, '2 files, 16 runs, 1 files red at least once');
    assert.equal([runs('third'), runs('good')], [8, 8]);
    const { files } = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as { files: object };
    assert.equal(files, {
      'packages/one/test/good.test.ts': { idle: { runs: 4, red: 0 }, shuffled: { runs: 4, red: 0 } },
      'packages/one/test/third.test.ts': { idle: { runs: 4, red: 1 }, shuffled: { runs: 4, red: 1 } },
    });
  }, LONG);

  test('green files end with 0, also under load and with another Node', () => {
    const { code, out, errors } = flakes('good', '--runs', '1', '--under', 'busy,node', '--node', process.execPath);
    assert.is(code, 0, out + errors);
    assert.match(out, '1 files, 2 runs, 0 files red');
  }, LONG);

  test('a Node that does not start is red, and the other conditions go on', () => {
    write('node', '#!/bin/sh\nexit 7\n');
    chmodSync(join(root, 'node'), 0o755);
    const { code, out } = flakes('good', '--runs', '1', '--under', 'node,idle', '--node', join(root, 'node'));
    assert.equal([code, runs('good')], [1, 1]);
    assert.match(out, /\nnode +idle +file\n1\/1 +0\/1 +packages/);
  }, LONG);

  test('its time over, it ends what runs, and that is not red', () => {
    const { code, out } = flakes('hangs', '--minutes', '0.1', '--under', 'idle');
    assert.is(code, 0, out);
    assert.match(out, '0 files, 0 runs');
  }, LONG);

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    test(`${signal} ends it, its load and its tests`, async () => {
      const mark = [process.env[MARK_VARIABLE] ?? [], root].flat().join('/');
      const child = spawn(process.execPath, program(['hangs', '--under', 'busy', '--out', join(root, 'out')]), {
        stdio: ['ignore', 'pipe', 'inherit'], cwd: root, env: { ...process.env, [MARK_VARIABLE]: mark },
      });
      children.push(child);
      const code = new Promise((resolve) => child.once('exit', resolve));
      await eventually(() => runs('hangs') > 0, { deadlineMs: 20_000, what: 'the test' });
      assert.ok(marked(mark).length > 3, 'it, two processes of load, the runner, the test');
      child.kill(signal);
      assert.is(await code, 130);
      await eventually(() => marked(mark).length === 0, { what: 'the end of all' });
    }, LONG);
  }

  test('load ends with whoever started it, however that ends', async () => {
    const text = `const { startLoad } = await import('${LOAD}');
      console.log(startLoad(1).pids[0]);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => { printed += String(chunk); });
    const pid = await eventually(() => Number(/^(\d+)\n/.exec(printed)?.[1] ?? 0), { what: 'the pid' });
    assert.ok(existsSync(`/proc/${pid}`));
    child.kill('SIGKILL');
    await eventually(() => !existsSync(`/proc/${pid}`), { what: 'the end of the load' });
  });

  test('bad input is refused with what was expected', () => {
    const wrong: readonly (readonly [args: string[], says: string])[] = [
      [['--runs', '0'], '--runs: expected a whole number from 1 to 10000, not 0'],
      [['--runs'], '--runs lacks its value'],
      [['--minutes', 'x'], '--minutes: expected a number above 0'],
      [['--under', 'idle,loud'], '--under: expected some of idle, busy, shuffled, node, blank, root, user, not loud'],
      [['--node', '/no/node', '--under', 'node'], "--node: expected the path of a Node's executable, not /no/node"],
      [['--node', root, '--under', 'node'], "--node: expected the path of a Node's executable"],
      [['--out', '--under', 'idle'], '--out lacks its value'],
      [['--out', join(root, 'scripts/test.mjs')], '--out: expected a directory in which results can be kept'],
      [['--node', process.execPath, '--under', 'idle'], '--node needs condition node'],
      [['--jobs', '2', '--jobs', '3'], '--jobs is given twice'],
      [['--colour', 'x'], 'unknown option --colour'],
      [['nowhere'], "no test file's path contains nowhere"],
    ];
    for (const [args, says] of wrong) {
      const { code, errors } = flakes(...args);
      assert.is(code, 2);
      assert.match(errors, `error: ${says}`);
    }
    const { code, out } = flakes('--help');
    assert.equal([code, out.split('\n')[0]?.startsWith('Usage: npm run flakes')], [0, true]);
  }, LONG);
});
