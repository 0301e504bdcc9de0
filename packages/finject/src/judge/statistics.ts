/**
 * Statistics of samples: order statistics and their intervals, shares, and the comparison of two samples. Confidence is
 * 95 % throughout. Nothing assumes a normal distribution of latencies.
 */

import type { Description } from './contracts.js';

const Z95 = 1.959963984540054;
const TAIL = 0.025;

/** Samples up to this size are compared exactly. */
const EXACT_MAX = 30;
/** Differences are formed of so many evenly spaced quantiles of larger samples: pairs are quadratic. */
const COMPARED_MAX = 400;

/** Describes at least one value. */
export function describe(values: readonly number[]): Description {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / n;
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    n, mean, deviation: n > 1 ? Math.sqrt(squares / (n - 1)) : 0,
    min: sorted[0] ?? NaN, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max: sorted[n - 1] ?? NaN,
    medianInterval: medianInterval(sorted),
  };
}

/**
 * The quantile of ascending values by linear interpolation between order statistics at 1 + (n − 1)p: definition 7 of
 * Hyndman and Fan (The American Statistician 50, 1996), the default of R and NumPy.
 */
export function quantile(sorted: ArrayLike<number>, p: number): number {
  const at = (sorted.length - 1) * p;
  const below = Math.floor(at);
  const low = sorted[below] ?? NaN;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? NaN;
  return low + (high - low) * (at - below);
}

/**
 * An interval of the median from order statistics x(k) and x(n+1−k), with the largest k for which the coverage
 * 1 − 2 P(B < k), B binomial (n, 1/2), is at least 95 % (Conover, Practical Nonparametric Statistics, 3.2). Values
 * ascending; undefined below 6 values.
 */
export function medianInterval(sorted: readonly number[]): readonly [number, number] | undefined {
  const n = sorted.length;
  let logTerm = -n * Math.LN2;
  let sum = 0;
  let k = 0;
  for (; k < n / 2; k++) {
    sum += Math.exp(logTerm);
    if (sum > TAIL) break;
    logTerm += Math.log(n - k) - Math.log(k + 1);
  }
  const low = sorted[k - 1];
  const high = sorted[n - k];
  return k === 0 || low === undefined || high === undefined ? undefined : [low, high];
}

/** Wilson's score interval of a share (J. of the American Statistical Association 22, 1927). n = 0: all of [0, 1]. */
export function wilson(count: number, n: number): readonly [number, number] {
  if (n === 0) return [0, 1];
  const share = count / n;
  const z2 = Z95 ** 2;
  const centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  return [count === 0 ? 0 : Math.max(0, centre - half), count === n ? 1 : Math.min(1, centre + half)];
}

/** Shift of a second sample against a first. */
export interface Shift {
  /** Hodges and Lehmann: the median of all differences, second minus first. */
  readonly estimate: number;
  /** Moses: order statistics of the differences; undefined with too few values. */
  readonly interval: readonly [number, number] | undefined;
  /** Mann and Whitney's test, two-sided. */
  readonly p: number;
  /** False: normal approximation with correction for ties. */
  readonly isExact: boolean;
}

/** Both with at least one value. */
export function compareSamples(first: readonly number[], second: readonly number[]): Shift {
  const [m, n] = [first.length, second.length];
  const a = ascending(first);
  const b = ascending(second);
  const differences = differencesOf(thinned(a), thinned(b));
  const isTied = new Set([...a, ...b]).size < m + n;
  const isExact = !isTied && m <= EXACT_MAX && n <= EXACT_MAX;
  const u = countPairs(a, b);
  // Of thinned samples the same fraction lies outside of the interval as of the whole ones.
  const skip = Math.floor((skipped(m, n) / (m * n)) * differences.length + 1e-9);
  const low = differences[skip - 1];
  const high = differences[differences.length - skip];
  return {
    estimate: quantile(differences, 0.5), isExact, p: isExact ? exactP(u, m, n) : normalP(u, a, b),
    interval: skip === 0 || low === undefined || high === undefined ? undefined : [low, high],
  };
}

function ascending(values: readonly number[]): readonly number[] {
  return [...values].sort((x, y) => x - y);
}

function thinned(sorted: readonly number[]): readonly number[] {
  if (sorted.length <= COMPARED_MAX) return sorted;
  return Array.from({ length: COMPARED_MAX }, (_, i) => quantile(sorted, (i + 0.5) / COMPARED_MAX));
}

/** Second minus first of all pairs, ascending. */
function differencesOf(a: readonly number[], b: readonly number[]): Float64Array {
  const differences = new Float64Array(a.length * b.length);
  let at = 0;
  for (const x of a) for (const y of b) differences[at++] = y - x;
  return differences.sort();
}

/** Pairs in which the second is larger, ties counted half: Mann and Whitney's U. Both ascending. */
function countPairs(a: readonly number[], b: readonly number[]): number {
  let [less, atMost, u] = [0, 0, 0];
  for (const y of b) {
    while (less < a.length && (a[less] ?? 0) < y) less++;
    while (atMost < a.length && (a[atMost] ?? 0) <= y) atMost++;
    u += (less + atMost) / 2;
  }
  return u;
}

/** P(U = u) for each u of 0..mn where both samples come from one distribution. */
function distributionOfU(m: number, n: number): readonly number[] {
  // Counts partitions into at most m parts of at most n, as the Gaussian binomial's coefficients.
  let counts: number[] = [1];
  for (let i = 1; i <= m; i++) {
    const product = new Array<number>(counts.length + n + i).fill(0);
    counts.forEach((value, u) => {
      product[u] = (product[u] ?? 0) + value;
      product[u + n + i] = (product[u + n + i] ?? 0) - value;
    });
    for (let u = i; u < product.length; u++) product[u] = (product[u] ?? 0) + (product[u - i] ?? 0);
    counts = product.slice(0, i * n + 1);
  }
  const total = counts.reduce((sum, value) => sum + value, 0);
  return counts.map((value) => value / total);
}

function exactP(u: number, m: number, n: number): number {
  const tail = Math.min(u, m * n - u);
  const sum = distributionOfU(m, n).slice(0, tail + 1).reduce((total, value) => total + value, 0);
  return Math.min(1, 2 * sum);
}

function normalP(u: number, a: readonly number[], b: readonly number[]): number {
  const [m, n] = [a.length, b.length];
  const total = m + n;
  const times = new Map<number, number>();
  for (const value of [...a, ...b]) times.set(value, (times.get(value) ?? 0) + 1);
  const ties = [...times.values()].reduce((sum, t) => sum + (t ** 3 - t), 0);
  const variance = ((m * n) / 12) * (total + 1 - ties / (total * Math.max(1, total - 1)));
  if (variance <= 0) return 1;
  const z = Math.max(0, Math.abs(u - (m * n) / 2) - 0.5) / Math.sqrt(variance);
  return Math.min(1, 2 * upperTail(z));
}

/** How many of the sorted differences lie outside of the interval on each side, and its end; 0: no interval. */
function skipped(m: number, n: number): number {
  if (m <= EXACT_MAX && n <= EXACT_MAX) {
    let sum = 0;
    return distributionOfU(m, n).findIndex((value) => (sum += value) > TAIL);
  }
  return Math.max(0, Math.floor((m * n) / 2 - Z95 * Math.sqrt((m * n * (m + n + 1)) / 12)));
}

/** P(Z > z), z ≥ 0: Abramowitz and Stegun 26.2.17, error below 7.5e-8. */
function upperTail(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const series = [0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
  const sum = series.reduceRight((rest, factor) => t * (factor + rest), 0);
  return (Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum;
}
