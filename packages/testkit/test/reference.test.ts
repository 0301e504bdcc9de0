/** The generated pages (docs/parameters.md, docs/reference) are what the declarations make, or it is told where not. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ERROR_KINDS } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ROOT } from './documents.js';

const REMEDY = 'Run: node scripts/write-reference.mjs';

function check(...directory: string[]): { readonly status: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath, ['scripts/write-reference.mjs', '--check', ...directory], { cwd: ROOT, encoding: 'utf8' },
  );
  return { status, out: stdout + stderr };
}

suite('generated reference', (test) => {
  test('is what the sources make', () => {
    assert.equal(check(), { status: 0, out: '' });
  }, { timeoutMs: 30_000 });

  test('stale, missing and foreign pages are told by file, line and remedy', () => {
    const copy = mkdtempSync(join(tmpdir(), 'stci-reference-'));
    const pathOf = (name: string): string => join(copy, 'docs', name);
    const read = (name: string): string => readFileSync(pathOf(name), 'utf8');
    try {
      for (const place of ['docs', ...['stcirun', 'finject-cli', 'client'].map((name) => `packages/${name}/man`)]) {
        cpSync(join(ROOT, place), join(copy, place), { recursive: true });
      }
      writeFileSync(pathOf('parameters.md'), read('parameters.md').replace('# Parameters\n', '# Parameters \n'));
      writeFileSync(pathOf('reference/errors.md'), `${read('reference/errors.md')}more\n`);
      writeFileSync(pathOf('reference/other.md'), '# Other\n');
      rmSync(pathOf('reference/contracts.md'));
      const { status, out } = check(copy);
      const lines = read('reference/errors.md').split('\n').length;
      assert.is(status, 1);
      assert.equal(out.trim().split('\n').sort(), [
        `docs/parameters.md:1 is stale: it has '# Parameters ', the source gives '# Parameters'. ${REMEDY}`,
        `docs/reference/contracts.md is missing. ${REMEDY}`,
        `docs/reference/errors.md:${lines - 1} is stale: it has 'more', the source gives ''. ${REMEDY}`,
        `docs/reference/other.md is not generated. ${REMEDY}`,
      ]);
    } finally {
      rmSync(copy, { recursive: true });
    }
  }, { timeoutMs: 30_000 });

  test('every error code has its row, with what it means and what to do', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/errors.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `(STCI_\w+)` \| [^|]+ \| (?:yes|no) \| [^|]{8,} \| [^|]{8,} \|$/gm)];
    assert.equal(rows.map(([, code]) => code), Object.keys(ERROR_KINDS));
  });

  test('every option and argument of a command has its meaning', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/commands.md'), 'utf8');
    const empty = page.split('\n').filter((line) => /^\| (?:\[?`-|`[A-Z])[^|]*\| *(?:; [^|]*)?\|/.test(line));
    assert.equal(empty, []);
  });
});
