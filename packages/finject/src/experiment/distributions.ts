/**
 * Random times by the inverse of their distribution functions, in ms. All are rounded to microseconds, so that the
 * last bit of a logarithm, which may differ between machines, changes no schedule.
 */

import type { Distribution } from './contracts.js';
import type { Draws } from './draws.js';

type Random = Exclude<Distribution, { readonly type: 'trace' }>;

const MICROSECONDS = 1000;
/** A normal time below 0 is drawn anew; with a mean of at least 0, half of them are above. */
const REDRAWS_MAX = 64;

/** One time, at least 0. Of a trace the times are taken in order instead. */
export function sampleMs(distribution: Random, draws: Draws): number {
  if (distribution.type === 'fixed') return distribution.valueMs;
  for (let attempt = 0; attempt < REDRAWS_MAX; attempt++) {
    const ms = quantileMs(distribution, draws.uniform());
    if (ms >= 0) return Math.round(ms * MICROSECONDS) / MICROSECONDS;
  }
  return 0;
}

/**
 * The time that a draw does not exceed with this probability, in [0, 1); of a normal distribution before it is cut
 * off, where it may be less than 0.
 */
export function quantileMs(distribution: Random, probability: number): number {
  switch (distribution.type) {
    case 'fixed':
      return distribution.valueMs;
    case 'uniform':
      return distribution.minMs + (distribution.maxMs - distribution.minMs) * probability;
    case 'exponential':
      return -distribution.meanMs * Math.log1p(-probability);
    case 'weibull':
      return distribution.scaleMs * (-Math.log1p(-probability)) ** (1 / distribution.shape);
    case 'normal':
      return distribution.meanMs + distribution.deviationMs * standardQuantile(probability);
  }
}

/** Least time that can be drawn, ms. */
export function leastMs(distribution: Distribution): number {
  if (distribution.type === 'fixed') return distribution.valueMs;
  if (distribution.type === 'uniform') return distribution.minMs;
  return distribution.type === 'trace' ? distribution.timesMs[0] ?? 0 : 0;
}

const SIGMAS_MAX = 9;
const BISECTIONS = 60;

/** Inverse of the standard normal distribution function, by bisection. */
function standardQuantile(probability: number): number {
  let [low, high] = [-SIGMAS_MAX, SIGMAS_MAX];
  for (let step = 0; step < BISECTIONS; step++) {
    const middle = (low + high) / 2;
    if (standardNormal(middle) < probability) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The distribution function by its series x + x³/3 + x⁵/(3·5) + …, whose terms are all of one sign. */
function standardNormal(x: number): number {
  let [term, sum] = [x, x];
  for (let odd = 3; Math.abs(term) > Number.EPSILON * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}
