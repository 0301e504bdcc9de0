/**
 * The counts of one agent: sums, and how many values were in each bucket. What they are called elsewhere, and which are
 * told as histograms, is decided where they are read (scrape/): to count needs none of that.
 */

import type { MetricLabels, Metrics } from './contracts.js';

/** Upper bounds of the buckets, which are of times, s. */
export const BUCKETS_S: readonly number[] = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60,
];

/** Labels of one row. */
export const LABELS_MAX = 16;

/** Labels are names of components and kinds of failures: there are few. What comes beyond is not counted. */
export const ROWS_MAX = 1000;

const SECONDS_PER_MS = 0.001;

export interface Counted {
  readonly name: string;
  readonly labels: MetricLabels;
  /** The sum, in s where the name says ms; then the count of each bucket, the last one without a bound. */
  readonly values: readonly number[];
}

export class MetricStore implements Metrics {
  readonly #counted = new Map<string, Counted & { readonly values: number[] }>();

  count(name: string, value: number, labels: MetricLabels = {}): void {
    const key = `${name} ${Object.values(labels).join(' ')}`;
    let counted = this.#counted.get(key);
    if (counted === undefined) {
      if (this.#counted.size >= ROWS_MAX) return;
      counted = { name, labels, values: new Array<number>(BUCKETS_S.length + 2).fill(0) };
      this.#counted.set(key, counted);
    }
    const scaled = name.endsWith('_ms') ? value * SECONDS_PER_MS : value;
    const bucket = BUCKETS_S.findIndex((bound) => scaled <= bound);
    counted.values[0]! += scaled;
    counted.values[1 + (bucket < 0 ? BUCKETS_S.length : bucket)]! += 1;
  }

  all(): readonly Counted[] {
    return [...this.#counted.values()];
  }
}
