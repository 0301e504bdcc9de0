/** Unmodified programs of a real Open MPI on PMIx. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { mpiProgram, whyNot } from './installed.js';
import { PmixJobs } from './pmix-job.js';
import { record } from './ranks.js';

const LONG = { timeoutMs: 90_000 };

/** Numbers that no other job of this machine has. */
let runs = 0;

async function withJobs(check: (jobs: PmixJobs) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'stci-pmix-'));
  runs += 1;
  const jobs = new PmixJobs(mpiProgram('openmpi'), directory, `t${process.pid}x${runs}x`);
  try {
    await check(jobs);
  } finally {
    jobs.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

suite('Open MPI', (test) => {
  const why = whyNot('openmpi');

  for (const [size, isDescribed] of [[1, false], [2, false], [4, false], [2, true]] as const) {
    const name = `${size} ranks${isDescribed ? ', described buffers' : ''}: init, barrier, collectives, finalize`;
    test.skipIf(why !== undefined, why ?? '', name, () => withJobs(async (jobs) => {
      const results = await jobs.run([], size, 2 * size, isDescribed);
      for (const [rank, { output, code }] of results.entries()) {
        assert.is(output, `rank ${rank} of ${size} host ${size} universe ${2 * size} ok\n`);
        assert.is(code, 0);
      }
      assert.equal(jobs.problems, []);
      assert.is(jobs.requests.filter(({ command }) => command === 'finalize').length, size);
      record(`openmpi-${size}${isDescribed ? '-described' : ''}`, jobs.dialogues);
    }), LONG);
  }

  for (const mode of ['connect', 'spawn']) {
    test.skipIf(why !== undefined, why ?? '', mode, () => withJobs(async (jobs) => {
      const results = await jobs.run([mode], 2, 8);
      for (const { output, code } of results) {
        assert.match(output, /^rank [01] of 2 .* ok\n$/);
        assert.is(code, 0);
      }
      assert.is(results.length, mode === 'spawn' ? 4 : 2);
      assert.equal(jobs.problems, []);
      record(`openmpi-${mode}`, jobs.dialogues);
    }), LONG);
  }

  test.skipIf(why !== undefined, why ?? '', 'an abort has its exit code', () => withJobs(async (jobs) => {
    await jobs.run(['abort'], 2, 2);
    assert.equal(jobs.requests.flatMap((request) => (request.command === 'abort' ? [request.status] : [])), [37]);
    record('openmpi-abort', jobs.dialogues);
  }), LONG);
});
