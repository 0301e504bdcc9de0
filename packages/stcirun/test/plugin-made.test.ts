/** The files of a new plugin: such that it can be used as one, whatever the umask. */

import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { pluginFrameworks } from '../dist/assembly/registry.js';
import { collectFiles } from '../dist/plugin/collect.js';
import { findPlugin } from '../dist/plugin/find.js';
import { makePlugin } from '../dist/plugin/new-plugin.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

suite('files of a new plugin', (test) => {
  test('no group may write them, with any umask', () => {
    const place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-made-')));
    const before = process.umask(0o002);
    try {
      const directory = join(place, 'my-tree');
      const made = {
      framework: 'launcher', name: 'my-tree', directory, isTypeScript: true, root: ROOT, taken: () => [],
    };
      const { files } = makePlugin(made);
      for (const file of ['.', 'src', ...files]) assert.is(statSync(join(directory, file)).mode & 0o022, 0, file);
      assert.is(collectFiles(findPlugin(directory, pluginFrameworks())).length, files.length);
    } finally {
      process.umask(before);
      rmSync(place, { recursive: true, force: true });
    }
  });
});
