// @timeoutMs 300000
/**
 * Experiments in simulation, drawn from seeds: faults of all kinds, aborted and killed at any moment. After each no
 * process is left, no fault is in force, and the record is complete or says that it is cut off.
 */

import { encodeRecord } from '@stci/finject/experiment';
import { assert, suite, swarmSeeds } from '@stci/testkit';
import { drawExperiment, runExperiment } from '@stci/swarm';
import { firstSeed } from './first-seed.js';

const SEEDS = swarmSeeds('experiments');
/** Of these each is played twice. */
const TWICE = 3;

suite('experiments', (test) => {
  const from = firstSeed();
  test(`${SEEDS} seeds from ${from}, this commit's`, () => {
    const failed: string[] = [];
    for (let seed = from; seed < from + SEEDS; seed++) {
      const { problems } = runExperiment(drawExperiment(seed));
      if (problems.length > 0) failed.push(`seed ${seed}: ${problems.slice(0, 3).join('; ')}`);
    }
    assert.equal(failed, []);
  }, { timeoutMs: 240_000 });

  test('the same seed gives the same history, byte for byte', () => {
    const history = (seed: number): string => runExperiment(drawExperiment(seed)).records.map(encodeRecord).join('\n');
    for (let seed = from; seed < from + TWICE; seed++) assert.is(history(seed), history(seed));
    assert.not.equal(history(from), history(from + 1));
  }, { timeoutMs: 60_000 });
});
