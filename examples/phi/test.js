/** The published suite for detectors, over phi, and how long a silence it trusts: `node test.js`. */

import { assert, detectorCompliance, suite } from '@stci/compliance';
import { createMesh } from '@stci/topology-mesh';
import { Arrivals, deviationsOf } from './arrivals.js';
import { detectorPhi } from './index.js';

const topology = (size) => createMesh([size], false);

detectorCompliance(detectorPhi, [
  // Many seeds with these are run by stci plugin check --compliance.
  { label: 'defaults', params: {}, topology, graceMs: 10_000, seeds: 5 },
  { label: 'fast', params: { period: '100ms', threshold: '8', grace: '1s' }, topology, graceMs: 1000 },
]);

suite('arrivals', (test) => {
  const bounds = { meanMinMs: 100, meanMaxMs: 150, deviationMinMs: 25, deviationMaxMs: 75 };
  const after = (...times) => {
    const arrivals = new Arrivals(bounds);
    for (const ms of times) arrivals.add(ms);
    return arrivals.silenceMs(2);
  };

  test('phi as deviations above the mean', () => {
    assert.ok(Math.abs(deviationsOf(1) - 1.28) < 0.03, `phi 1: one in ten, ${deviationsOf(1)}`);
    assert.ok(Math.abs(deviationsOf(8) - 5.23) < 0.01, `phi 8: one in 10^8, ${deviationsOf(8)}`);
  });

  test('the more regular the answers, the shorter the silence, between the bounds', () => {
    assert.is(after(), 150 + 2 * 75);
    assert.is(after(110, 110, 110), 110 + 2 * 25);
    assert.is(after(70, 170), 120 + 2 * 50);
    assert.is(after(1, 2), 100 + 2 * 25);
    assert.is(after(10, 1000), 150 + 2 * 75);
  });

  test('the last hundred count', () => {
    assert.is(after(...Array(50).fill(1000), ...Array(100).fill(120)), 120 + 2 * 25);
  });
});
