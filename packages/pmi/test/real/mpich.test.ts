/** Unmodified programs of a real MPICH on PMI-1. */

import { assert, suite } from '@stci/testkit';
import { mpiProgram, whyNot } from './installed.js';
import { Pmi1Job } from './pmi1-job.js';
import { record } from './ranks.js';

const LONG = { timeoutMs: 90_000 };

suite('MPICH', (test) => {
  const why = whyNot('mpich');

  for (const size of [1, 2, 4]) {
    test.skipIf(why !== undefined, why ?? '', `${size} ranks: init, barrier, collectives, finalize`, async () => {
      const job = new Pmi1Job(mpiProgram('mpich'), [], Array.from({ length: size }, () => 0), 2 * size);
      const results = await job.run();
      for (const [rank, { output, code }] of results.entries()) {
        assert.is(output, `rank ${rank} of ${size} host ${size} universe ${2 * size} ok\n`);
        assert.is(code, 0);
      }
      assert.is(job.events.filter(({ kind }) => kind === 'finalize').length, size);
      record(`mpich-${size}`, job.dialogues);
    }, LONG);
  }

  test.skipIf(why !== undefined, why ?? '', 'an abort has its exit code', async () => {
    const job = new Pmi1Job(mpiProgram('mpich'), ['abort'], [0, 0], 2);
    await job.run();
    assert.equal(job.events.flatMap((event) => (event.kind === 'abort' ? [event.exitCode] : [])), [37]);
    record('mpich-abort', job.dialogues);
  }, LONG);

  test.skipIf(why !== undefined, why ?? '', 'who ends without finalize ends the job', async () => {
    const results = await new Pmi1Job(mpiProgram('mpich'), ['vanish'], [0, 0], 2).run();
    assert.equal(results.map(({ code, signal }) => code ?? signal), ['SIGKILL', 0]);
  }, LONG);
});
