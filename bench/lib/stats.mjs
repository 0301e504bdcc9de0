/** Medians, and how they are printed: always with the smallest and the largest, and the number of runs. */

/** `count`, or `few` where `BENCH_SMOKE` is set: the test that the benches still run waits for no figures. */
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
 * The ratio of two series that were measured in turns, run by run: the median of the quotients of neighbours, which
 * a machine that grows slower or faster during the bench does not bend.
 */
export function ratio(values, floor) {
  return median(values.map((value, i) => value / floor[i]));
}

/** Measures each of `makers` once a round, in turns; returns one list of results each. */
export async function interleave(rounds, makers) {
  const results = makers.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, make] of makers.entries()) results[i].push(await make(round));
  }
  return results;
}
