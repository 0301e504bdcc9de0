/** What an agent counts, and how that is told. */

import type { FailureRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { check } from '../../dist/codec/shape.js';
import { countFailure } from '../../dist/metrics/failures.js';
import { metricRows } from '../../dist/metrics/row.js';
import { BUCKETS_S, MetricStore } from '../../dist/metrics/store.js';
import { rowsOf } from '../../dist/scrape/rows.js';
import { METRICS } from '../../dist/scrape/table.js';

const DECLARED = {
  heartbeats: { type: 'counter', help: 'Heartbeats sent.' },
  round_trip_ms: { type: 'histogram', help: 'From a ping to its answer.' },
} as const;

function store() {
  const metrics = new MetricStore();
  const rows = () => rowsOf(metrics, (detector) => (detector === 'ring' ? DECLARED : {}));
  return { count: metrics.count.bind(metrics), rows };
}

suite('metrics of an agent', (test) => {
  test('counters add up by their labels; a detector\'s have its prefix', () => {
    const metrics = store();
    metrics.count('heartbeats', 2, { detector: 'ring' });
    metrics.count('heartbeats', 3, { detector: 'ring' });
    metrics.count('heartbeats', 1, { detector: 'other' });
    metrics.count('repairs', 1);
    assert.equal(metrics.rows(), [
      ['stci_detector_heartbeats', 'counter', 'Heartbeats sent.', ['detector', 'ring'], [5]],
      ['stci_detector_heartbeats', 'counter', 'Not declared by its detector.', ['detector', 'other'], [1]],
      ['stci_tree_repairs', 'counter', METRICS['repairs']!.help, [], [1]],
    ]);
    assert.equal(check(metricRows, metrics.rows(), 'rows'), metrics.rows());
  });

  test('times are counted in ms and told in seconds; a bound belongs to its bucket', () => {
    const metrics = store();
    for (const ms of [0, 1, 1.5, 60_000, 60_001]) metrics.count('round_trip_ms', ms, { detector: 'ring' });
    const [row] = metrics.rows();
    assert.equal(row?.slice(0, 2), ['stci_detector_round_trip_seconds', 'histogram']);
    const [sum, ...counts] = row?.[4] ?? [];
    assert.ok(Math.abs((sum ?? 0) - 120.0035) < 1e-9, `${sum}`);
    const where = counts.flatMap((count, i) => (count > 0 ? [[BUCKETS_S[i] ?? Infinity, count]] : []));
    assert.equal(where, [[0.0005, 1], [0.001, 1], [0.002, 1], [60, 1], [Infinity, 1]]);
  });

  test('rows of another agent whose names could be lines of the text, or that lack values, are refused', () => {
    const right = ['stci_failures', 'counter', 'H.', ['kind', 'a\nb'], [1]];
    assert.equal(check(metricRows, [right], 'rows'), [right]);
    const wrong = [
      [0, 'a 1\nb'], [0, ''], [0, 'stci_a{b="c"}'], [1, 'gauge'], [1, 'histogram'], [3, ['kind']], [3, ['a b', 'c']],
      [3, ['__proto__', 'c']], [4, []], [4, [1, 2]], [4, [Infinity]],
    ] as const;
    for (const [index, value] of wrong) {
      const row = right.map((item, i) => (i === index ? value : item));
      assert.throwsCode('STCI_MESSAGE_INVALID', () => check(metricRows, [row], 'rows'));
    }
  });

  test('what was read does not change when more is counted', () => {
    const metrics = store();
    metrics.count('repairs', 1);
    const before = metrics.rows();
    metrics.count('repairs', 1);
    assert.equal(before[0]?.[4], [1]);
  });

  test('a label that has many values by mistake costs no memory without end, and nobody fails', () => {
    const metrics = store();
    for (let i = 0; i < 5000; i++) metrics.count('reports', 1, { detector: `d${i}` });
    metrics.count('reports', 2, { detector: 'd0' });
    assert.is(metrics.rows().length, 1000);
    assert.equal(metrics.rows()[0]?.[4], [3]);
  });

  test('a failure\'s record counts once, with the times that are known', () => {
    const metrics = store();
    const record = {
      subject: { kind: 'host', host: 1, incarnation: 1 }, cause: 'silent', detector: 'ring',
      suspectedWallMs: 1000, confirmedWallMs: 1500, notifiedWallMs: 1503,
    };
    countFailure(metrics, record as unknown as FailureRecord);
    countFailure(metrics, { ...record, notifiedWallMs: undefined, achievedMs: 800 } as unknown as FailureRecord);
    const told = metrics.rows().map(([name, , , labels, [sum]]) => `${name} ${labels.join()} ${sum?.toFixed(3)}`);
    assert.equal(told, [
      'stci_failures kind,host,cause,silent 2.000',
      'stci_failure_suspicion_seconds detector,ring 1.000',
      'stci_failure_propagation_seconds detector,ring 0.003',
      'stci_failure_detection_seconds detector,ring 0.800',
    ]);
  });

  test('names and helps are as OpenMetrics has them', () => {
    for (const { name, help, type } of Object.values(METRICS)) {
      assert.match(name, type === 'histogram' ? /^stci_[a-z_]+_seconds$/u : /^stci_[a-z_]+(?<!_total)$/u);
      assert.match(help, /^\p{Lu}[^]*\.$/u);
    }
  });
});
