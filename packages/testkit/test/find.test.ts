/** Stale compiled tests, and what files declare: deadlines, and who need not run them again. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { findTestFiles, isChosen } from '../dist/runner/find.js';

suite('finding test files', (test) => {
  let root = '';
  test.beforeEach(() => { root = mkdtempSync(join(tmpdir(), 'stci-find-')); });
  test.afterEach(() => { rmSync(root, { recursive: true, force: true }); });

  function write(path: string, text = ''): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  test('a compiled test without a source is removed and does not run', () => {
    write('packages/a/test/kept.test.ts');
    write('packages/a/dist-test/kept.test.js');
    write('packages/a/dist-test/kept.test.js.map');
    write('packages/a/dist-test/deep/gone.test.js');
    write('packages/a/dist-test/deep/gone.test.d.ts');
    write('packages/a/dist-test/.tsbuildinfo');
    assert.equal(findTestFiles(root, 7).map((file) => file.label), ['packages/a/test/kept.test.ts']);
    assert.not.ok(existsSync(join(root, 'packages/a/dist-test/deep/gone.test.js')));
    assert.not.ok(existsSync(join(root, 'packages/a/dist-test/deep/gone.test.d.ts')));
    assert.ok(existsSync(join(root, 'packages/a/dist-test/kept.test.js.map')));
    assert.ok(existsSync(join(root, 'packages/a/dist-test/.tsbuildinfo')));
  });

  test('a file declares its own deadline', () => {
    write('packages/a/test/long.test.ts', '/** Long. */\n// @timeoutMs 300000\n');
    write('packages/a/dist-test/long.test.js');
    write('packages/b/test/deep/short.test.ts', '');
    write('packages/b/dist-test/deep/short.test.js');
    assert.equal(findTestFiles(root, 120_000).map((file) => file.timeoutMs), [300_000, 120_000]);
  });

  test('a file declares what it comes out the same for, with a reason', () => {
    const sameFor = (head: string): readonly string[] | undefined => {
      write('packages/a/test/a.test.ts', `/** A. */\n${head}\n`);
      write('packages/a/dist-test/a.test.js');
      return findTestFiles(root, 7)[0]?.sameFor;
    };
    assert.equal(sameFor(''), []);
    assert.equal(sameFor('// @sameFor node: it is a shell\'s.'), ['node']);
    assert.equal(sameFor('// @sameFor user, node: core decides: see there.'), ['user', 'node']);
    for (const wrong of ['user', 'user:', 'user, nod: core', 'user node: core', ': core']) {
      assert.throws(() => sameFor(`// @sameFor ${wrong}`), /a\.test\.ts: expected \/\/ @sameFor user, node: REASON/);
    }
  });

  test('for another user or Node those are left out that say it is the same', () => {
    const heads = { a: '', b: 'user: core.', c: 'user, node: core.', d: 'node: core.' };
    for (const [name, head] of Object.entries(heads)) {
      write(`packages/${name}/test/x.test.ts`, head === '' ? '' : `// @sameFor ${head}\n`);
      write(`packages/${name}/dist-test/x.test.js`);
    }
    const chosen = (words: readonly string[], ...others: ('user' | 'node')[]): string => findTestFiles(root, 7)
      .filter((file) => isChosen(file, words, others)).map(({ label }) => label.split('/')[1]).join('');
    assert.equal([chosen([]), chosen([], 'user'), chosen([], 'node')], ['abcd', 'ad', 'ab']);
    assert.is(chosen([], 'user', 'node'), 'abd');
    assert.equal([chosen(['s/a/', 's/b/', 's/c/']), chosen(['s/b/', 's/c/'], 'node')], ['abc', 'b']);
  });
});
