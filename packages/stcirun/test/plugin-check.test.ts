/** `stci plugin check`: each thing that can be wrong with a package is a finding, which names its file and a remedy. */
// @timeoutMs 300000

import {
  chmodSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { CheckPlace, record, type Finding } from './check-place.js';
import { whyNoNamespaces } from './example-place.js';

const LONG = { timeoutMs: 60_000 };

suite('stci plugin check', (test) => {
  const at = new CheckPlace();
  const { path: place } = at;
  const run = at.run.bind(at);
  const check = at.check.bind(at);
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const finds = (what: string, makes: () => Finding[], kind: string, file: string, says: RegExp): void => {
    test(what, () => at.finds(makes(), kind, file, says), LONG);
  };

  test('a package that is right has none; the report has its facts', () => {
    assert.equal(check('right', record('')), []);
    const { code, stdout } = run('right', '--compliance');
    assert.match(stdout, /right 1\.0\.0, API \^1, 3 files, \d+ bytes\n {2}launcher:some\n/u);
    assert.match(stdout, /\n0 errors, 0 warnings, 8 tests of compliance passed\n/u);
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
  finds('code that leaves a process behind, which holds its pipes', () => check('leaves', `
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
spawn('sleep', ['300'], { stdio: ['ignore', 'inherit', 'inherit', 3] });
writeSync(3, 'no message\\n');
throw new Error('no luck');
${record('')}`), 'code', './index.js', /cannot be loaded: no luck/u);
  test('--fix writes what the code declares, and nothing else, once', () => {
    const params = "params: { depth: { type: 'int', default: 2, min: 1, help: 'Deep.' } }";
    check('fixed', record(params), { help: undefined });
    const file = join(place, 'fixed/package.json');
    const manifest = (declared: string): string => `{
\t"version": "1.0.0", "name": "fixed",
\t"stci": {
\t\t"components": [
\t\t\t{ "name": "some", "framework": "launcher", "module": "./index.js"${declared} }
\t\t],
\t\t"api": "^1"
\t},
\t"type": "module"
}`;
    writeFileSync(file, manifest(''));
    chmodSync(file, 0o640);
    const before = run('fixed');
    assert.match(before.stdout, /help: it is missing[^]*--fix writes help, parameters and arguments of the code into/u);
    const { code, stdout } = run('fixed', '--fix');
    assert.match(stdout, '\nwrote into package.json: launcher:some: help, params\n');
    assert.is(code, 0, stdout);
    const fixed = manifest(', "help": "Some tree.", '
      + '"params": {"depth":{"type":"int","default":2,"min":1,"help":"Deep."}}');
    assert.is(readFileSync(file, 'utf8'), fixed);
    assert.is(statSync(file).mode & 0o777, 0o640);
    const { ino } = statSync(file);
    assert.not.match(run('fixed', '--fix').stdout, 'wrote into');
    assert.equal([statSync(file).ino, readFileSync(file, 'utf8')], [ino, fixed]);
    writeFileSync(file, fixed.replace('"default":2', '"default":3').replace('Some tree.', 'Others.'));
    assert.match(run('fixed').stdout, /differ in help[^]*--fix writes/u);
    assert.is(run('fixed', '--fix').code, 0);
    assert.is(readFileSync(file, 'utf8'), fixed);
    assert.equal(readdirSync(join(place, 'fixed')).sort(), ['README.md', 'index.js', 'package.json']);
  }, LONG);

  test('--fix follows a link of the directory, and leaves what it cannot read', () => {
    check('linked', record(''), { help: undefined });
    symlinkSync('linked', join(place, 'link'));
    assert.match(run('link', '--fix').stdout, 'wrote into package.json: launcher:some: help\n');
    assert.is(run('linked').code, 0);
    check('unread', record(''));
    writeFileSync(join(place, 'unread/package.json'), '{ no');
    assert.match(run('unread', '--fix').stdout, 'it is no JSON');
    assert.is(readFileSync(join(place, 'unread/package.json'), 'utf8'), '{ no');
  }, LONG);

  const missing = whyNoNamespaces();
  test.skipIf(missing !== undefined, missing ?? '', 'the example unshare is right, its own test included', () => {
    at.checkExample('unshare');
  }, { timeoutMs: 200_000 });

  test('what is no package is an error of its own', () => {
    const { code, stdout } = run('nowhere');
    assert.is(code, 194);
    assert.match(stdout, /error: package\.json: there is no such directory/u);
  }, LONG);
});
