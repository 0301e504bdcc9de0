/** Statistics against published values, and against Python's library on random samples. */

import { spawnSync } from 'node:child_process';
import { assert, suite } from '@stci/testkit';
import { compareSamples, describe, medianInterval, quantile, wilson } from '@stci/finject/experiment';

function near(actual: number | undefined, expected: number, within = 1e-9): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) <= within, `${actual} is not near ${expected}`);
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** A small congruential generator: samples are the same each time. */
function samples(n: number, seed: number): number[] {
  let state = seed;
  return Array.from({ length: n }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return -Math.log(1 - state / 2_147_483_648) * 50;
  });
}

suite('statistics', (test) => {
  test('Wilson, as Newcombe (Statistics in Medicine 17, 1998, table I)', () => {
    const cases = [
      [81, 263, 0.2553, 0.3662], [15, 148, 0.0624, 0.1605], [0, 20, 0, 0.1611], [1, 29, 0.0061, 0.1718],
    ] as const;
    for (const [count, n, low, high] of cases) {
      const [from, to] = wilson(count, n);
      near(from, low, 5e-5);
      near(to, high, 5e-5);
    }
    assert.equal(wilson(0, 0), [0, 1]);
    assert.is(wilson(20, 20)[1], 1);
  });

  test('the interval of the median: the ranks of the binomial table', () => {
    // n → k of the interval x(k) .. x(n+1−k), two-sided 5 % of the sign test.
    const ranks = { 6: 1, 8: 1, 9: 2, 10: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 40: 14, 50: 18, 100: 40 };
    for (const [n, k] of Object.entries(ranks)) {
      assert.equal(medianInterval(upTo(Number(n))), [k, Number(n) + 1 - k], `n = ${n}`);
    }
    assert.is(medianInterval(upTo(5)), undefined);
    assert.is(medianInterval([]), undefined);
    // Where 2^-n is 0 in floating point: the normal approximation is within one rank.
    const large = medianInterval(upTo(5000));
    near(large?.[0], 2500 - 1.96 * Math.sqrt(5000) / 2, 1.5);
  });

  test('the two-sample comparison, as Hollander and Wolfe (1973), table 4.1, and R', () => {
    const second = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const first = [1.15, 0.88, 0.90, 0.74, 1.21];
    const shift = compareSamples(first, second);
    near(shift.p, 0.2544, 5e-5);
    near(shift.estimate, 0.305, 1e-9);
    assert.ok(shift.isExact);
    near(shift.interval?.[0], -0.15, 1e-9);
    near(shift.interval?.[1], 0.76, 1e-9);
  });

  test('the exact test agrees with counting all arrangements', () => {
    const second = [3, 10, 11, 12];
    const first = [1, 2, 4, 5, 6];
    const all = [...first, ...second];
    const uOf = (chosen: readonly number[]): number => chosen.reduce(
      (sum, y) => sum + all.filter((x) => !chosen.includes(x) && x < y).length, 0);
    const us: number[] = [];
    for (let mask = 0; mask < 2 ** 9; mask++) {
      const chosen = all.filter((_, i) => (mask >> i) % 2 === 1);
      if (chosen.length === 4) us.push(uOf(chosen));
    }
    const u = uOf(second);
    const extreme = us.filter((one) => Math.abs(one - 10) >= Math.abs(u - 10)).length;
    near(compareSamples(first, second).p, extreme / us.length);
  });

  test('with ties and large samples the normal approximation', () => {
    assert.is(compareSamples([1, 1, 1], [1, 1, 1]).p, 1);
    const base = samples(200, 3);
    const moved = samples(300, 4).map((value) => value + 30);
    const shift = compareSamples(base, moved);
    assert.not(shift.isExact);
    assert.ok(shift.p < 1e-6);
    assert.ok((shift.interval?.[0] ?? 0) < 30 && (shift.interval?.[1] ?? 0) > 20, JSON.stringify(shift.interval));
    // Moses' interval has half the width 1.96 sd(U), in differences of a uniform grid: exactly these order statistics.
    const grid = Array.from({ length: 100 }, (_, i) => i);
    const same = compareSamples(grid, grid.map((value) => value + 1e-3)).interval;
    near(same?.[0], -8 + 1e-3, 1.5);
    near(same?.[1], 8 + 1e-3, 1.5);
    const many = compareSamples(samples(5000, 5), samples(5000, 6));
    assert.ok(many.p > 0.001 && Math.abs(many.estimate) < 5);
  });

  test('one value, and equal values', () => {
    assert.equal(describe([4]), {
      n: 1, mean: 4, deviation: 0, min: 4, median: 4, p95: 4, max: 4, medianInterval: undefined,
    });
    assert.is(describe([2, 2, 2]).deviation, 0);
    assert.is(quantile([1, 2], 0.5), 1.5);
  });

  test('Python computes the same', () => {
    const sets = [1, 2, 3, 7, 20, 101, 1000].map((n) => samples(n, n));
    const program = [
      'import json, statistics as s, sys',
      'def of(v):',
      '  q = s.quantiles(v, n=20, method="inclusive")[18] if len(v) > 1 else v[0]',
      '  return [s.fmean(v), s.stdev(v) if len(v) > 1 else 0, min(v), s.median(v), q, max(v)]',
      'print(json.dumps([of(v) for v in json.load(sys.stdin)]))',
    ].join('\n');
    const run = spawnSync('python3', ['-c', program], { input: JSON.stringify(sets), encoding: 'utf8' });
    assert.is(run.status, 0, run.stderr);
    const theirs = JSON.parse(run.stdout) as number[][];
    sets.forEach((values, i) => {
      const { mean, deviation, min, median, p95, max } = describe(values);
      [mean, deviation, min, median, p95, max].forEach((value, j) => near(value, theirs[i]?.[j] ?? NaN, 1e-8));
    });
  });
});
