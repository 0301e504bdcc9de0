/** A rank that leaves its host while its job is ended, in simulation: whenever that is told, it does not start. */

import { assert, suite } from '@stci/testkit';
import { open } from '../agent/open-session.js';

/** Less than a message takes. */
const STEP_MS = 0.02;

/** A job of one rank that crashes after a second and is started elsewhere 20 s later. */
function start() {
  const session = open({ 'tool.grace': '5s' });
  const params = { errmgr: ['restart'], 'errmgr.elsewhere': 1, 'errmgr.restart.pause': 20_000 };
  return { ...session, job: session.begin(1, ['crash', 'SEGV', '1'], { params }) };
}

suite('the end of a job', (test) => {
  test('is not delayed by a rank that leaves its host: its last end is its outcome', () => {
    const first = start();
    const isTold = (): boolean => first.job.events.some(({ type }) => type === 'restarting');
    first.world.run({ untilMs: first.world.nowMs + 1000 });
    while (!isTold()) first.world.run({ untilMs: first.world.nowMs + STEP_MS });
    const toldMs = first.world.nowMs;
    const codes = new Set<number | undefined>();
    for (let steps = 0; steps < 15; steps += 1) {
      const { world, job, until, end } = start();
      world.run({ untilMs: toldMs - steps * STEP_MS });
      job.frontEnd.control({ verb: 'end', kill: false, reason: 'enough' });
      until(() => job.report !== undefined, `its end, ${steps} steps earlier`, 1000);
      const after = job.events.slice(job.events.findIndex(({ type }) => type === 'ending'));
      assert.is(after.some(({ type }) => type === 'restarting'), false, `${steps} steps earlier`);
      codes.add(job.report?.exitCode);
      end();
    }
    assert.equal([...codes].sort(), [139, 143]);
  });
});
