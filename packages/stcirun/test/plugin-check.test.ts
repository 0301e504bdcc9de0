/** `stci plugin check`: each thing that can be wrong with a package is a finding, which names its file and a remedy. */
// @timeoutMs 300000

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { copyExamples, whyNoNamespaces } from './example-place.js';

const STCI = fileURLToPath(new URL('../dist/bundle/stci.cjs', import.meta.url));
const LINKED = fileURLToPath(new URL('../node_modules', import.meta.url));
const LONG = { timeoutMs: 60_000 };

const HEAD = `import { accept, defineComponent, launcherFramework } from '@stci/core/component';\n`;
const record = (more: string, tree = '({ arity: 2 })'): string => `${HEAD}export const flat = defineComponent({
  framework: launcherFramework, name: 'some', version: '1.0.0', frameworkVersion: 1, help: 'Some tree.', params: {},
  query: () => accept(1), create: () => ({ policy: 'some', tree: () => ${tree} }), ${more}
});\n`;

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly file: string;
  readonly text: string;
}

suite('stci plugin check', (test) => {
  let place = '';
  test.before(() => { place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-check-'))); });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const run = (...args: string[]): { code: number | null; stdout: string } => {
    const { status, stdout } = spawnSync(process.execPath, [STCI, 'plugin', 'check', ...args], {
      cwd: place, encoding: 'utf8', timeout: 190_000,
      env: { ...process.env, XDG_CACHE_HOME: join(place, 'cache'), HOME: place },
    });
    return { code: status, stdout };
  };
  /** Makes a package and checks it. */
  const check = (name: string, code: string, stci: object = {}, json: object = {}): Finding[] => {
    const directory = join(place, name);
    mkdirSync(directory, { mode: 0o755 });
    const component = { framework: 'launcher', name: 'some', module: './index.js', help: 'Some tree.', ...stci };
    writeFileSync(join(directory, 'package.json'), JSON.stringify({
      name, version: '1.0.0', type: 'module', stci: { api: '^1', components: [component] }, ...json,
    }));
    writeFileSync(join(directory, 'index.js'), code);
    writeFileSync(join(directory, 'README.md'), `# ${name}\n`);
    const { code: exitCode, stdout } = run(name, '--json', ...(name.startsWith('suite') ? ['--compliance'] : []));
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    assert.is(exitCode, findings.some(({ level }) => level === 'error') ? 194 : 0, stdout);
    return findings;
  };
  const finds = (what: string, makes: () => Finding[], kind: string, file: string, says: RegExp): void => {
    test(what, () => {
      const findings = makes();
      const found = findings.find((each) => each.check === kind && each.file === file && says.test(each.text));
      assert.ok(found, `${kind} ${file} ${String(says)} is not in ${JSON.stringify(findings, undefined, 1)}`);
    }, LONG);
  };

  test('a package that is right has none; the report has its facts', () => {
    assert.equal(check('right', record('')), []);
    const { code, stdout } = run('right', '--compliance');
    assert.match(stdout, /right 1\.0\.0, API \^1, 3 files, \d+ bytes\n {2}launcher:some\n/u);
    assert.match(stdout, /\n0 errors, 0 warnings, 7 tests of compliance passed\n/u);
    assert.is(code, 0);
  }, LONG);

  finds('a manifest with wrong types', () => check('types', record(''), { name: 7 }), 'manifest', 'package.json',
    /components\[0\]\.name: expected a-z and 0-9/u);
  const future = { stci: { api: '^9', components: [] } };
  finds('a range that this API is not in', () => check('range', record(''), {}, future), 'manifest',
    'package.json', /Update STCI/u);
  finds('a module that is not there', () => check('absent', record(''), { module: './dist/index.js' }), 'manifest',
    'package.json', /there is no \.\/dist\/index\.js in the package\. Build it/u);
  finds('a name that STCI has', () => check('taken', record('name: "tree"'), { name: 'tree' }), 'names', 'package.json',
    /launcher:tree is there without this plugin\. Choose another name/u);
  finds('what it prints', () => check('prints', `console.log('hello');\n${record('')}`), 'code', './index.js',
    /launcher:some: import or query prints "hello": each stcirun .* Leave it out\./u);
  finds('a loop at its import', () => check('loops', `${record('')}while (true);\n`), 'code', './index.js',
    /^launcher:some: import and query: the load of \.\/index\.js has not returned for \d+ ms\. Look for a loop/u);
  const quoted = { params: { p: { type: 'int', default: '0', help: 'x' } } };
  finds('a number in quotes', () => check('quotes', record(''), quoted), 'manifest', 'package.json',
    /params\.p: has a default that is not a safe integer: "0"\. Write 0 without quotes\.$/u);
  finds('an import of what is not declared', () => check('undeclared', `import 'left-pad';\n${record('')}`), 'imports',
    'index.js:1', /'left-pad' is no dependency in package\.json/u);
  finds('an import from outside of the package', () => {
    writeFileSync(join(place, 'other.js'), '');
    return check('outside', `import '../other.js';\n${record('')}`);
  }, 'imports', 'index.js:1', /outside of the package/u);
  finds('an import of the runtime', () => check('runtime', `import { encode } from '@stci/core';\n${record('')}`),
    'imports', 'index.js:1', /'@stci\/core' is not for plugins/u);
  finds('a file that others can write', () => {
    check('open', record(''));
    chmodSync(join(place, 'open/index.js'), 0o666);
    return (JSON.parse(run('open', '--json').stdout) as { findings: Finding[] }).findings;
  }, 'files', 'index.js', /^\/[^:]*index\.js .*chmod/u);
  finds('code that throws when it is loaded', () => check('throws', 'throw new Error("no luck");'), 'code',
    './index.js', /cannot be loaded: no luck/u);
  finds('a record that the manifest does not have', () => check('differs', record('help: "Other."')), 'code',
    './index.js', /differ in help/u);
  finds('a query that throws', () => check('query', record('query: () => { throw new Error("ask me not"); }')),
    'code', './index.js', /launcher:some\.query: ask me not/u);
  finds('a component that declines', () => check('declines', record(
    "query: () => ({ accept: false, reason: 'not today' })")), 'code', './index.js', /declines .* not today/u);
  finds('code that ends its process', () => check('exits', record('create: () => process.exit(7)')), 'code',
    './index.js', /launcher:some: create ended its process \(exit code 7\)/u);
  finds('code that never comes back', () => check('hangs', record('create: () => { for (;;); }')), 'code', './index.js',
    /launcher:some: create: launcher:some\.create has not returned for 5000 ms\. Look for a loop/u);
  finds('a call of a suite that never comes back', () => check('suite-hangs', record('').replace('tree: () =>',
    'tree: (hosts) => { if (hosts.length > 4) for (;;); return { arity: 2 }; }, other: () =>')), 'code', './index.js',
  /: launcher\.tree: launcherExample\(component, \{.*"hosts":5\}\): launcher:some\.tree has not returned for/u);
  finds('code that leaves a process behind, which holds its pipes', () => check('leaves', `
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
spawn('sleep', ['300'], { stdio: ['ignore', 'inherit', 'inherit', 3] });
writeSync(3, 'no message\\n');
throw new Error('no luck');
${record('')}`), 'code', './index.js', /cannot be loaded: no luck/u);
  finds('a broken promise, with its example', () => check('suite', record('', '({ arity: 0 })')), 'compliance',
    './index.js', /launcher\.tree is broken[^]*again: launcherExample\(component, \{"promise":"tree","hosts":1\}\)/u);

  for (const name of ['cabinets', 'phi', 'torus', 'unshare']) {
    const missing = name === 'unshare' ? whyNoNamespaces() : undefined;
    test.skipIf(missing !== undefined, missing ?? '', `the example ${name} is right, its own test included`, () => {
      const examples = copyExamples(name);
      const { code, stdout } = run(join(examples, name), '--compliance', '--json');
      rmSync(examples, { recursive: true, force: true });
      assert.is(code, 0, stdout);
      const { passed, findings } = JSON.parse(stdout) as { passed: number; findings: Finding[] };
      assert.equal(findings, []);
      assert.ok(passed >= 7, `${passed} tests`);
    }, { timeoutMs: 200_000 });
  }

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

  test('what is no package is an error of its own', () => {
    const { code, stdout } = run('nowhere');
    assert.is(code, 194);
    assert.match(stdout, /error: package\.json: there is no such directory/u);
  }, LONG);
});
