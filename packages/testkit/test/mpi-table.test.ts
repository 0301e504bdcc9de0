/** The table of tested MPI libraries in docs/mpi.md: in the form in which it is written, with what doctor knows. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { ROOT } from './documents.js';

function check(...document: string[]): { readonly code: number | null; readonly out: string } {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath, ['scripts/write-mpi-table.mjs', '--check', ...document], options);
  return { code: status, out: stdout + stderr };
}

suite('the table of tested MPI libraries', (test) => {
  test('is as it is written', () => assert.equal(check(), { code: 0, out: '' }));

  test('one with failures, without what is known, of nothing, or changed by hand is told', () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-mpi-table-'));
    const text = readFileSync(join(ROOT, 'docs/mpi.md'), 'utf8');
    try {
      for (const [from, to, wanted] of [
        [/\| (\d+) of \d+ \|/u, '| 1 of 2 |', 'tests failed'],
        [/hangs in MPI_Finalize on several hosts/u, 'is well', "MPICH 4.0.2: known not to work is 'hangs"],
        [/^\| MPICH 4\.0\.2 .*\n/mu, '', 'MPICH 4.0.2 is missing'],
        [/^\| library \| one host .*\n/mu, '', 'its head is another one'],
        [/<!-- end of the table -->/u, '', 'there is no table'],
      ] as const) {
        // Its first match is in the table, or it is there alone.
        const at = text.indexOf('## Tested');
        const changed = text.slice(0, at) + text.slice(at).replace(from, to);
        assert.ok(changed !== text, String(from));
        const file = join(directory, 'mpi.md');
        writeFileSync(file, changed);
        const { code, out } = check(file);
        assert.is(code, 1);
        assert.match(out, wanted);
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
