/** Stale compiled tests, and deadlines that files declare. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { findTestFiles } from '../dist/runner/find.js';

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
});
