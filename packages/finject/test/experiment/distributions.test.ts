/** Distributions: known values of their inverse functions, and the figures of many draws. */

import { assert, suite } from '@stci/testkit';
import { leastMs, quantileMs, sampleMs } from '../../dist/experiment/distributions.js';
import { Draws } from '../../dist/experiment/draws.js';

type Random = Parameters<typeof sampleMs>[0];

const DRAWS = 20_000;

function figures(distribution: Random): { mean: number; deviation: number; least: number; median: number } {
  const draws = new Draws([1, distribution.type]);
  const values = Array.from({ length: DRAWS }, () => sampleMs(distribution, draws)).sort((a, b) => a - b);
  const mean = values.reduce((sum, value) => sum + value, 0) / DRAWS;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (DRAWS - 1);
  return { mean, deviation: Math.sqrt(variance), least: values[0]!, median: values[DRAWS / 2]! };
}

/** Within `sigmas` standard errors of the mean. */
function isNear(found: number, expected: number, deviation: number, sigmas = 4): boolean {
  return Math.abs(found - expected) <= (sigmas * deviation) / Math.sqrt(DRAWS);
}

suite('distributions', (test) => {
  test('inverse functions at known probabilities', () => {
    const near = (found: number, expected: number): void => assert.ok(Math.abs(found - expected) < 1e-9 * 100);
    near(quantileMs({ type: 'uniform', minMs: 100, maxMs: 300 }, 0.25), 150);
    near(quantileMs({ type: 'exponential', meanMs: 100 }, 0.5), 100 * Math.LN2);
    near(quantileMs({ type: 'exponential', meanMs: 100 }, 1 - 1 / Math.E), 100);
    // The scale is the quantile of 1 - 1/e, whatever the shape; shape 1 is exponential.
    near(quantileMs({ type: 'weibull', shape: 0.7, scaleMs: 100 }, 1 - 1 / Math.E), 100);
    near(quantileMs({ type: 'weibull', shape: 2, scaleMs: 100 }, 1 - Math.exp(-4)), 200);
    near(quantileMs({ type: 'weibull', shape: 1, scaleMs: 100 }, 0.9), -100 * Math.log(0.1));
    const normal = { type: 'normal', meanMs: 0, deviationMs: 1 } as const;
    near(quantileMs(normal, 0.5), 0);
    near(quantileMs(normal, 0.975), 1.959963984540054);
    near(quantileMs(normal, 0.001), -3.090232306167813);
    near(quantileMs(normal, 0.9999997133484281), 5);
  });

  test('at the ends of what can be drawn they are finite', () => {
    const all: Random[] = [
      { type: 'exponential', meanMs: 1 }, { type: 'weibull', shape: 0.2, scaleMs: 1 },
      { type: 'normal', meanMs: 1, deviationMs: 1 }, { type: 'uniform', minMs: 0, maxMs: 1 },
    ];
    for (const distribution of all) {
      for (const probability of [0, 2 ** -53, 1 - 2 ** -53]) {
        assert.ok(Number.isFinite(quantileMs(distribution, probability)), distribution.type);
      }
    }
  });

  test('fixed', () => {
    assert.is(sampleMs({ type: 'fixed', valueMs: 7 }, new Draws([])), 7);
    assert.equal([leastMs({ type: 'fixed', valueMs: 7 }), leastMs({ type: 'uniform', minMs: 3, maxMs: 4 }),
      leastMs({ type: 'trace', timesMs: [5, 6] }), leastMs({ type: 'exponential', meanMs: 4 })], [7, 3, 5, 0]);
  });

  test('uniform: mean, deviation', () => {
    const { mean, deviation, least } = figures({ type: 'uniform', minMs: 1000, maxMs: 3000 });
    assert.ok(isNear(mean, 2000, 577) && Math.abs(deviation - 577.35) < 10 && least >= 1000);
  });

  test('exponential: mean, deviation, median', () => {
    const { mean, deviation, median } = figures({ type: 'exponential', meanMs: 500 });
    assert.ok(isNear(mean, 500, 500) && Math.abs(deviation - 500) < 25 && Math.abs(median - 346.57) < 15);
  });

  test('Weibull: mean by the gamma function, median', () => {
    const { mean, median } = figures({ type: 'weibull', shape: 2, scaleMs: 1000 });
    // Γ(1 + 1/2) = √π / 2; deviation √(1 - π/4).
    assert.ok(isNear(mean, 500 * Math.sqrt(Math.PI), 463.3));
    assert.ok(Math.abs(median - 1000 * Math.sqrt(Math.LN2)) < 20);
  });

  test('normal: mean, deviation; cut off at 0 it is drawn anew, not moved to 0', () => {
    const { mean, deviation } = figures({ type: 'normal', meanMs: 5000, deviationMs: 1000 });
    assert.ok(isNear(mean, 5000, 1000) && Math.abs(deviation - 1000) < 25);
    const half = figures({ type: 'normal', meanMs: 0, deviationMs: 1000 });
    // Of the half-normal distribution: σ √(2/π), σ √(1 - 2/π).
    assert.ok(isNear(half.mean, 797.88, 602.8) && Math.abs(half.deviation - 602.8) < 20);
    assert.ok(half.least >= 0 && Math.abs(half.median - 674.49) < 20);
  });

  test('draws: uniform in each decile; a sample has each once', () => {
    const draws = new Draws(['deciles']);
    const counts = new Array<number>(10).fill(0);
    for (let count = 0; count < DRAWS; count++) counts[Math.floor(draws.uniform() * 10)]! += 1;
    // Chi-square with 9 degrees of freedom: 27.9 is exceeded once in 1000.
    assert.ok(counts.reduce((sum, count) => sum + (count - 2000) ** 2 / 2000, 0) < 27.9, counts.join(' '));
    assert.equal(draws.sample([1, 2, 3, 4], 9).sort(), [1, 2, 3, 4]);
    assert.equal(new Draws([1, 'a']).uniform() === new Draws([1, 'b']).uniform(), false);
  });
});
