/** Medians and their format: always with the smallest and the largest value, and the number of runs. */

/** `count`, or `few` if `BENCH_SMOKE` is set: the test that runs all benches needs no accurate figures. */
export const scaled = (count, few = 1) => (process.env.BENCH_SMOKE ? few : count);

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `24.1 ms (22.8–31.0)` */
export function spread(values, unit, digits = 1) {
  const low = Math.min(...values).toFixed(digits);
  const high = Math.max(...values).toFixed(digits);
  return `${median(values).toFixed(digits)} ${unit} (${low}–${high})`;
}

/**
 * The ratio of two series measured in turns: the median of the quotients of corresponding runs, which is not affected
 * by a machine that becomes slower or faster during the bench.
 */
export function ratio(values, floor) {
  return median(values.map((value, i) => value / floor[i]));
}

/** Measures each of `makers` once per round, in turns; returns a list of results for each. */
export async function interleave(rounds, makers) {
  const results = makers.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, make] of makers.entries()) results[i].push(await make(round));
  }
  return results;
}
