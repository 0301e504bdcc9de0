/** Metrics as they are sent from agent to agent, and told to front-ends. */

import { name as labelText, text } from '../codec/bounds.js';
import { list, narrowed, num, oneOf, tuple, type Infer } from '../codec/shape.js';
import { BUCKETS_S, LABELS_MAX, ROWS_MAX } from './store.js';

/** Of a histogram. */
const VALUES = BUCKETS_S.length + 2;

/**
 * Name, type, help; labels, each name followed by its value; values: of a counter its sum, of a histogram the sum and
 * the count of each bucket, not cumulated, the last one without a bound.
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
