/** `stci plugin list`: where each plugin is named, what it is, what is wrong with it; and none of its code runs. */
// @timeoutMs 120000

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, patient, suite } from '@stci/testkit';

const STCI = fileURLToPath(new URL('../dist/bundle/stci.cjs', import.meta.url));
const LONG = { timeoutMs: 30_000 };

suite('stci plugin list', (test) => {
  let place = '';
  test.before(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-list-')));
    for (const [name, component] of [['good', 'one'], ['other', 'two'], ['same', 'one'], ['bad', 'No Name']]) {
      mkdirSync(join(place, name as string));
      const components = [{ framework: 'launcher', name: component, module: './index.js', help: 'Some tree.' }];
      writeFileSync(join(place, `${name}/package.json`),
        JSON.stringify({ name, version: '1.2.3', type: 'module', stci: { api: '^1', components } }));
      writeFileSync(join(place, `${name}/index.js`), `import fs from 'node:fs'; fs.writeFileSync('${place}/ran', '');`);
    }
    mkdirSync(join(place, 'conf'));
    writeFileSync(join(place, 'conf/more.conf'), '# plugins of the lab\nplugin.paths = ../other\n');
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const run = (...args: string[]): { code: number | null; stdout: string } => {
    const { status, stdout } = spawnSync(process.execPath, [STCI, 'plugin', 'list', ...args], {
      cwd: place, encoding: 'utf8', timeout: patient(25_000),
      env: { ...process.env, XDG_CACHE_HOME: join(place, 'cache'), HOME: place },
    });
    return { code: status, stdout };
  };

  test('none', () => assert.equal(run(), { code: 0, stdout: 'no plugins are named\n' }), LONG);

  test('of a file, with its line, and of the command line', () => {
    const { code, stdout } = run('--am', 'conf/more.conf', '--plugin', 'good');
    assert.match(stdout, `${place}/other: other 1.2.3, API ^1, `);
    assert.match(stdout, `  named at ${place}/conf/more.conf:2\n  launcher:two\n`);
    assert.match(stdout, `${place}/good: good 1.2.3, API ^1, `);
    assert.match(stdout, '  named at --plugin good\n  launcher:one\n');
    assert.is(code, 0);
  }, LONG);

  test('with what is wrong: a manifest, names, no package; the others are listed all the same', () => {
    const { code, stdout } = run(...['bad', 'good', 'same', 'gone'].flatMap((name) => ['--plugin', name]), '--json');
    assert.is(code, 194);
    const { plugins } = JSON.parse(stdout) as { plugins: { path: string; hash?: string; problems: string[] }[] };
    const problems = plugins.map((one) => one.problems.join(' '));
    assert.match(problems[0] ?? '', /components\[0\]\.name: expected a-z and 0-9/u);
    assert.is(problems[1], '');
    assert.match(problems[2] ?? '', /launcher:one/u);
    assert.match(problems[3] ?? '', /there is no such directory/u);
    assert.match(plugins[1]?.hash ?? '', /^[0-9a-f]{64}$/u);
  }, LONG);

  test('none of their code has run', () => assert.not.ok(existsSync(join(place, 'ran'))));
});
