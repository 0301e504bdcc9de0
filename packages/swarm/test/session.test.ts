// @timeoutMs 300000
/**
 * Sessions in simulation: jobs beside each other while root agents are killed. What lives goes on, and is whole; the
 * seeds are new with each commit.
 */

import { assert, suite } from '@stci/testkit';
import { drawSession, runSession } from '@stci/swarm';
import { firstSeed } from './first-seed.js';

const SEEDS = 60;

suite('sessions', (test) => {
  const from = firstSeed();
  test(`${SEEDS} seeds from ${from}, this commit's`, () => {
    const failed: string[] = [];
    for (let seed = from; seed < from + SEEDS; seed++) {
      const { problems } = runSession(drawSession(seed));
      if (problems.length > 0) failed.push(`seed ${seed}: ${problems.slice(0, 3).join('; ')}`);
    }
    assert.equal(failed, []);
  }, { timeoutMs: 240_000 });

  test('the same seed gives the same run', () => {
    const hash = (): string => runSession(drawSession(7)).world.traceHash;
    assert.is(hash(), hash());
  });
});
