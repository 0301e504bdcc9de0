// @ts-check
/**
 * How surprising a silence is (Hayashibara, Défago, Yared, Katayama: The φ accrual failure detector, SRDS 2004):
 * φ = −log10 of the chance that the next sign of life comes still later, as the times between the last ones have been.
 * At φ = 8 it would come later once in 10^8 times.
 */

/** Times between signs of life that are remembered. */
const WINDOW = 100;

/**
 * How many standard deviations above the mean φ is reached: the normal distribution, by its logistic approximation
 * 1 / (1 + exp(y (1.5976 + 0.070566 y²))), inverted by bisection. Far out it is below the normal
 * distribution: at φ = 8 it gives 5.23 deviations, not 5.61.
 * @param {number} phi more than 0
 */
export function deviationsOf(phi) {
  const exponent = Math.log(10 ** phi - 1);
  let [low, high] = [0, 40];
  while (high - low > 1e-9) {
    const y = (low + high) / 2;
    if (y * (1.5976 + 0.070566 * y * y) < exponent) low = y;
    else high = y;
  }
  return high;
}

/**
 * The mean and the standard deviation are kept inside bounds, so that a detector can promise when it reports: a few
 * regular answers must not make it nervous, nor a few late ones blind.
 * @typedef {object} Bounds
 * @property {number} meanMinMs
 * @property {number} meanMaxMs
 * @property {number} deviationMinMs
 * @property {number} deviationMaxMs
 */

export class Arrivals {
  /** @type {number[]} */
  #times = [];
  #next = 0;
  #mean = Infinity;
  #deviation = Infinity;
  #bounds;

  /** @param {Bounds} bounds */
  constructor(bounds) {
    this.#bounds = bounds;
  }

  /** @param {number} ms between two signs of life */
  add(ms) {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % WINDOW;
    const count = this.#times.length;
    this.#mean = this.#times.reduce((all, each) => all + each, 0) / count;
    this.#deviation = Math.sqrt(this.#times.reduce((all, each) => all + (each - this.#mean) ** 2, 0) / count);
  }

  /**
   * The silence at which φ is reached that is so many deviations above the mean.
   * @param {number} deviations
   */
  silenceMs(deviations) {
    const { meanMinMs, meanMaxMs, deviationMinMs, deviationMaxMs } = this.#bounds;
    const deviation = within(this.#deviation, deviationMinMs, deviationMaxMs);
    return within(this.#mean, meanMinMs, meanMaxMs) + deviations * deviation;
  }
}

/** @type {(value: number, min: number, max: number) => number} */
const within = (value, min, max) => Math.min(max, Math.max(min, value));
