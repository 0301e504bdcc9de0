/** The metrics of one agent: sums, and counts by bucket. To read them does not change them. */

import type { MetricSpec } from '@stci/interface';
import { name as labelText, text } from '../codec/bounds.js';
import { list, narrowed, num, oneOf, tuple, type Infer } from '../codec/shape.js';
import type { MetricLabels, Metrics } from './contracts.js';
import { BUCKETS_S, METRICS, detectorFamily, type MetricFamily } from './table.js';

/** Labels of one row. */
const LABELS_MAX = 16;

/** Labels are names of components and kinds of failures: there are few. What comes beyond is not counted. */
const ROWS_MAX = 1000;

/** Of a histogram. */
const VALUES = BUCKETS_S.length + 2;

/**
 * As it is sent: name, type, help; labels, each name followed by its value; values: of a counter its sum, of a
 * histogram the sum and the count of each bucket, not cumulated, the last one without a bound.
 */
const anyRow = tuple(
  labelText, oneOf('counter', 'histogram'), text, list(labelText, 2 * LABELS_MAX), list(num, VALUES),
);
export type MetricRow = Infer<typeof anyRow>;

/** Names of metrics and labels: only label values and helps are escaped where they are printed. */
const NAME = /^[a-z][a-z0-9_]{0,127}$/;

function rowFlaw([name, type, , labels, values]: MetricRow): string | undefined {
  const names = [name, ...labels.filter((_, i) => i % 2 === 0)];
  const count = type === 'counter' ? 1 : VALUES;
  if (names.every((one) => NAME.test(one)) && labels.length % 2 === 0 && values.length === count) return undefined;
  return `Expected names in [a-z0-9_], label pairs and ${count} values`;
}

export const metricRows = list(narrowed(anyRow, rowFlaw, {
  good: [['a_1', 'counter', 'h', ['b', 'v'], [1]], ['a', 'histogram', '', [], new Array<number>(VALUES).fill(0)]],
  bad: [['A', 'counter', '', [], [1]], ['a', 'counter', '', ['b'], [1]], ['a', 'histogram', '', [], [1]]],
}), ROWS_MAX);

interface Row {
  readonly family: MetricFamily;
  readonly labels: readonly string[];
  readonly values: number[];
}

export class MetricStore implements Metrics {
  readonly #declared: (detector: string) => Readonly<Record<string, MetricSpec>>;
  readonly #rows = new Map<string, Row>();

  /** `declared`: the metrics of a detector. */
  constructor(declared: (detector: string) => Readonly<Record<string, MetricSpec>>) {
    this.#declared = declared;
  }

  count(name: string, value: number, labels: MetricLabels = {}): void {
    const key = `${name} ${Object.values(labels).join(' ')}`;
    const row = this.#rows.get(key) ?? this.#open(key, name, labels);
    if (row === undefined) return;
    const scaled = value * row.family.scale;
    row.values[0]! += scaled;
    if (row.family.type === 'counter') return;
    const bucket = BUCKETS_S.findIndex((bound) => scaled <= bound);
    row.values[1 + (bucket < 0 ? BUCKETS_S.length : bucket)]! += 1;
  }

  rows(): MetricRow[] {
    return [...this.#rows.values()].map(({ family, labels, values }) =>
      [family.name, family.type, family.help, labels, [...values]]);
  }

  #open(key: string, name: string, labels: MetricLabels): Row | undefined {
    if (this.#rows.size >= ROWS_MAX) return undefined;
    const family = this.#familyOf(name, labels['detector']);
    const values = new Array<number>(family.type === 'counter' ? 1 : VALUES).fill(0);
    const row = { family, labels: Object.entries(labels).flat(), values };
    this.#rows.set(key, row);
    return row;
  }

  #familyOf(name: string, detector = ''): MetricFamily {
    const spec = detector === '' ? undefined : this.#declared(detector)[name];
    if (spec !== undefined) return detectorFamily(name, spec);
    return METRICS[name] ?? detectorFamily(name, { type: 'counter', help: 'Not declared by its detector.' });
  }
}
