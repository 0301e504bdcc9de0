/** `stci plugin check --compliance`: suites, tests of the package's own, and calls that do not return. */
// @timeoutMs 300000
// @sameFor user, node: suites, which are pure. Modules are plugin-check's, and what hangs plugin-faults'.

import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { CheckPlace, record, type Finding } from './check-place.js';

const LINKED = fileURLToPath(new URL('../node_modules', import.meta.url));
const LONG = { timeoutMs: 60_000 };

suite('stci plugin check: suites', (test) => {
  const at = new CheckPlace();
  const { path: place } = at;
  const run = at.run.bind(at);
  const check = at.check.bind(at);
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const finds = (what: string, makes: () => Finding[], kind: string, file: string, says: RegExp): void => {
    test(what, () => at.finds(makes(), kind, file, says), LONG);
  };

  finds('a loop at its import', () => check('loops', `${record('')}while (true);\n`), 'code', './index.js',
    /^launcher:some: import and query: the load of \.\/index\.js has not returned for \d+ ms\. Look for a loop/u);
  finds('code that never comes back', () => check('hangs', record('create: () => { for (;;); }')), 'code', './index.js',
    /launcher:some: create: launcher:some\.create has not returned for 5000 ms\. Look for a loop/u);
  finds('a call of a suite that never comes back', () => check('suite-hangs', record('').replace('tree: () =>',
    'tree: (hosts) => { if (hosts.length > 4) for (;;); return { arity: 2 }; }, other: () =>')), 'code', './index.js',
  /: launcher\.tree: launcherExample\(component, \{.*"hosts":5\}\): launcher:some\.tree has not returned for/u);
  finds('a broken promise, with its example', () => check('suite', record('', '({ arity: 0 })')), 'compliance',
    './index.js', /launcher\.tree is broken[^]*again: launcherExample\(component, \{"promise":"tree","hosts":1\}\)/u);

  for (const name of ['cabinets', 'phi', 'roll-call', 'torus']) {
    test(`the example ${name} is right, its own test included`, () => at.checkExample(name), { timeoutMs: 200_000 });
  }

  test('counter-examples that differ in numbers alone are one', () => {
    const code = `import { accept, defineComponent, topologyFramework } from '@stci/core/component';
export default defineComponent({ framework: topologyFramework, name: 'some', version: '1.0.0', frameworkVersion: 1,
  help: 'Some tree.', params: {}, query: () => accept(1), create: (_deps, _params, { kind, size }) => ({ kind, size,
    diameter: 1, neighbours: () => [], nextHop: (source) => source,
    spanningTree: (root) => ({ root, parent: () => undefined, children: () => [], depth: () => 0,
      subtreeSize: () => 1 }) }) });`;
    const found = check('suite-folds', code, { framework: 'topology' }).filter((one) => one.check === 'compliance');
    const { stdout } = run('suite-folds', '--compliance');
    const blocks = stdout.split('\n').filter((line) => line.startsWith('error: '));
    const more = [...stdout.matchAll(/^ {4}and (\d+) more like it$/gmu)].reduce((sum, [, one]) => sum + Number(one), 0);
    assert.ok(more > 0 && blocks.length + more === found.length, `${found.length} findings:\n${stdout}`);
    assert.match(stdout, `\n${found.length} errors`);
  }, LONG);

  test('what test.js finds is found', () => {
    const directory = join(place, 'linked');
    check('linked', record(''));
    symlinkSync(LINKED, join(directory, 'node_modules'));
    writeFileSync(join(directory, 'test.js'), `import { assert, suite } from '@stci/compliance';
suite('own', (test) => test('one is two', () => assert.is(1, 2, 'one is no two')));\n`);
    const { code, stdout } = run('linked', '--compliance');
    assert.is(code, 194, stdout);
    assert.match(stdout, /error: test\.js: one is no two/u);
  }, LONG);
});
