/** `npm run mutants` in a workspace of its own, and its mutations of short pieces of code. */

// @timeoutMs 300000
// @sameFor user, node: what it starts, the runner, is run by each of them.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { draw, findMutations } from '../dist/mutants/draw.js';
import { FOLDERS } from '../dist/mutants/options.js';
import { mutationsOf } from '../dist/mutants/points.js';

const MUTANTS = new URL('../dist/mutants/main.js', import.meta.url).href;
const RUNNER = new URL('../dist/runner/main.js', import.meta.url).href;
const TESTKIT = new URL('../dist/index.js', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LONG = { timeoutMs: 120_000 };

suite('mutations of code', (test) => {
  const cases: readonly (readonly [code: string, ...after: string[]])[] = [
    ['if (a) b();', 'if (!(a)) b();', 'if (a) ;'],
    ['x = a === b;', 'x = a !== b;'],
    ['if (a !== b) x = y;', 'if (a === b) x = y;'],
    ['x = a < b;', 'x = a <= b;'],
    ['x = a >= b;', 'x = a > b;'],
    ['x = a && b;', 'x = a || b;'],
    ['x = a + b;', 'x = a - b;'],
    ["x = a + ' s';"],
    ['x -= y;', 'x += y;'],
    ['x++;', 'x--;'],
    ['a?.b();', ';'],
    ['async () => { await a(); };'],
    ['function f() { x = y; return z; }', 'function f() { return; x = y; return z; }',
      'function f() { x = y; return undefined; }'],
    ['class A { m() { return undefined; } }'],
    ['class A { constructor() { x = y; z = x; } }'],
    ['x = [0, 1, 2, 16, 17];', 'x = [1, 1, 2, 16, 17];', 'x = [0, 0, 2, 16, 17];', 'x = [0, 1, 3, 16, 17];',
      'x = [0, 1, 2, 17, 17];', 'x = [0, 1, 2, 16, 0];'],
    ['x = true;', 'x = false;'],
    ["import { a } from '0';"],
    ["assert(a > 1, 'text');"],
    ["this.node.log.write('info', 1);"],
    ['throw new StciError(a ? 1 : 2);'],
    ['x = `${a ? 1 : 2}`;'],
  ];
  for (const [code, ...after] of cases) {
    test(`${code} has ${after.length}`, () => {
      const texts = mutationsOf('x.js', code).map(({ start, end, replacement }) =>
        code.slice(0, start) + replacement + code.slice(end));
      assert.equal(texts, after);
    });
  }

  test('an id stays when other code changes, and is another for the same code a second time', () => {
    const [first] = mutationsOf('x.js', 'x = a < b;');
    const [, moved, second] = mutationsOf('x.js', 'y = true;\nx = a < b;\nx = a < b;');
    assert.equal([moved?.id, second?.id === first?.id], [first?.id, false]);
  });
});

suite('npm run mutants', (test) => {
  let root = '';
  let out = '';
  const children: ChildProcess[] = [];
  const CODE = 'packages/core/dist/agent/limit.js';
  const LIMIT = 'assert.equal([2, 3, 4].map(isOver), [false, false, true])';

  test.beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stci-mutants-test-'));
    out = mkdtempSync(join(tmpdir(), 'stci-mutants-out-'));
    write(CODE, [
      'export const isOver = (n) => n > 3;',
      'export function untested(n) { return n; }',
      'export const until = (n) => { let i = 0; while (i < n) i += 1; return i; };', '',
    ].join('\n'));
    write('scripts/test.mjs', `import { runTests } from '${RUNNER}';
      import { dirname } from 'node:path';
      process.exitCode = await runTests(dirname(dirname(process.argv[1])), process.argv.slice(2));`);
    write('packages/core/test/limit.test.ts', '');
    writeTest(LIMIT);
  });
  test.afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    for (const directory of [root, out]) rmSync(directory, { recursive: true, force: true });
  });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function writeTest(body: string): void {
    write('packages/core/dist-test/limit.test.js', `import { assert, suite } from '${TESTKIT}';
      import { isOver, until } from '../dist/agent/limit.js';
      suite('limit', (test) => test('is', () => { ${body}; }, { timeoutMs: 60_000 }));`);
  }

  const program = (args: readonly string[]): string[] => ['--input-type=module', '-e',
    `const { runMutants } = await import('${MUTANTS}');
    process.exitCode = await runMutants('${root}', ${JSON.stringify(args)});`];
  const usual = (): string[] => ['limit', '--in', 'agent', '--count', '50', '--seeds', '0', '--out', out];

  function mutants(args: readonly string[]): { code: number | null; text: string; errors: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, program(args), { encoding: 'utf8', cwd: root });
    return { code: status, text: stdout, errors: stderr };
  }

  const idOf = (operator: string, changed: string): string => {
    const code = readFileSync(join(root, CODE), 'utf8');
    const found = findMutations(root, ['agent']).find(({ operator: one, start, end }) =>
      one === operator && code.slice(start, end) === changed);
    return found?.id ?? 'none';
  };

  test('it tells what no test notices, goes on where it ended, and leaves the workspace as it was', () => {
    const before = readFileSync(join(root, CODE), 'utf8');
    const first = mutants(usual());
    assert.is(first.code, 1, first.text + first.errors);
    assert.match(first.text, `killed ${CODE}:1 bound ${idOf('bound', '>')} by limit › is, `);
    assert.match(first.text, `survived ${CODE}:2 return ${idOf('return', 'return n;')}, `);
    assert.match(first.text, '    - export function untested(n) { return n; }\n'
      + '    + export function untested(n) { return undefined; }\n');
    const all = findMutations(root, ['agent']).length;
    assert.match(first.text, new RegExp(`^all +${all} +2 +0 +${all - 2} +${Math.floor(200 / all)} %$`, 'm'));
    writeTest(`${LIMIT}; assert.is(until(3), 3)`);
    const again = mutants(usual());
    assert.equal([again.code, again.text.includes(`/${all} `)], [1, false], again.text);
    const [negate, hang] = [idOf('negate', 'i < n'), idOf('arithmetic', '+=')];
    assert.match(mutants([...usual(), '--only', negate]).text, `1/1 killed ${CODE}:3 negate ${negate} by `);
    assert.match(mutants([...usual(), '--only', hang]).text, `1/1 timed out ${CODE}:3 arithmetic ${hang} by `);
    const retried = mutants([...usual(), '--retry', '--minutes', '1']);
    assert.match(retried.text, `survived ${CODE}:2 return`);
    assert.is(readFileSync(join(root, CODE), 'utf8'), before);
  }, LONG);

  test('a test that is red without a mutant notices none', () => {
    writeTest('assert.is(isOver(3), true)');
    const { code, text } = mutants([...usual(), '--count', '1']);
    assert.is(code, 1, text);
    assert.match(text, 'red without a mutant, so not used: packages/core/test/limit.test.ts: limit › is\n');
    assert.match(text, '1/1 survived ');
  }, LONG);

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    test(`${signal} ends it and what it runs; nothing is left`, async () => {
      writeTest('assert.ok(true); if (isOver(3)) return new Promise((resolve) => setTimeout(resolve, 60_000))');
      const scratch = join(out, 'scratch');
      mkdirSync(scratch);
      const child = spawn(process.execPath, program([...usual(), '--only', idOf('bound', '>')]), {
        stdio: ['ignore', 'inherit', 'inherit'], cwd: root, env: { ...process.env, TMPDIR: scratch },
      });
      children.push(child);
      const code = new Promise((resolve) => child.once('exit', resolve));
      const copy = (): string | undefined => readdirSync(scratch).find((name) => name.startsWith('stci-mutants-copy-'));
      const isChanged = (): boolean => {
        const path = join(scratch, copy() ?? 'none', root.split('/').at(-1) ?? '', CODE);
        return existsSync(path) && readFileSync(path, 'utf8').includes('>=');
      };
      await eventually(isChanged, { deadlineMs: 20_000, what: 'a mutant' });
      child.kill(signal);
      assert.is(await code, 130);
      assert.is(copy(), undefined);
    }, LONG);
  }

  test('the same seed draws the same, another one others', () => {
    const all = findMutations(root, ['agent']);
    const ids = (seed: number): string[] => draw(all, seed, 3).map(({ id }) => id);
    assert.equal(ids(1), ids(1));
    assert.ok([2, 3, 4].some((seed) => ids(seed).join() !== ids(1).join()));
  });

  test('each folder that is changed by default has something to change', () => {
    const without = FOLDERS.filter((folder) => findMutations(ROOT, [folder]).length === 0);
    assert.equal(without, []);
  });

  test('--help tells options and operators', () => {
    const { code, text } = mutants(['--help']);
    assert.is(code, 0);
    assert.match(text, /^Usage: npm run mutants [^]*--retry [^]*\n {2}negate /);
  });

  test('bad input is refused with what was expected', () => {
    const wrong: readonly (readonly [args: string[], says: string])[] = [
      [['--count', '0'], '--count: expected a whole number from 1 to 1000000, not 0'],
      [['--seed', 'x'], '--seed: expected a whole number from 0 to'],
      [['--retry'], '--retry needs --out'],
      [['--colour', 'x'], "Unknown option '--colour'"],
      [['--in', 'nowhere'], 'there is no packages/core/dist/nowhere: is it built?'],
      [['--in', 'agent', 'nowhere'], "no test file's path contains nowhere"],
      [['--in', 'agent', '--out', join(root, CODE)], '--out: expected a directory in which results can be kept'],
      [['--in', 'agent', '--only', 'x'], '--only: x is not among the'],
    ];
    for (const [args, says] of wrong) {
      const { code, errors } = mutants(args);
      assert.is(code, 2);
      assert.match(errors, `error: ${says}`);
    }
  }, LONG);
});
