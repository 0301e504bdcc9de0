/** `stci metrics`: what a session's agents counted, as OpenMetrics text. */

import { BUCKETS_S, type AgentMetrics, type MetricRow } from '@stci/core/session';
import { promised } from '@stci/stcirun/internal';
import { assert, suite } from '@stci/testkit';
import { metricsText } from '../dist/stci/metrics-text.js';
import { parseOpenMetrics } from './open-metrics.js';
import { withSession } from './session-help.js';

const BUCKETS = [1, ...BUCKETS_S.map(() => 2)];
const ROWS: readonly MetricRow[] = [
  ['stci_failures', 'counter', 'Failures "on record"\\.', ['kind', 'host', 'cause', 'a "b"\n\\'], [2]],
  ['stci_agent_lag_seconds', 'histogram', 'Lag.', [], [0.5, ...BUCKETS]],
];

suite('stci metrics', (test) => {
  const agents = ['controller', 'root:0'].map((agent): AgentMetrics => ({ agent, rows: ROWS }));

  test('the sums over all agents', async () => {
    const families = parseOpenMetrics(await metricsText(agents, false));
    assert.equal([...families.keys()].sort(), ['stci_agent_lag_seconds', 'stci_failures']);
    const { type, samples } = families.get('stci_failures')!;
    assert.equal([type, [...samples]], ['counter', [['stci_failures_total{kind="host",cause="a \\"b\\"\\n\\\\"}', 4]]]);
    const lag = families.get('stci_agent_lag_seconds')!.samples;
    assert.equal([lag.get('stci_agent_lag_seconds_sum{}'), lag.get('stci_agent_lag_seconds_count{}')],
      [1, 2 * (1 + 2 * BUCKETS_S.length)]);
    assert.is(lag.get('stci_agent_lag_seconds_bucket{le="0.001"}'), 6);
    assert.equal([...families.values()].map(({ unit }) => unit), [undefined, 'seconds']);
  });

  test('each agent by itself', async () => {
    const { samples } = parseOpenMetrics(await metricsText(agents, true)).get('stci_failures')!;
    assert.equal([...samples.values()], [2, 2]);
    assert.match([...samples.keys()][1] ?? '', 'agent="root:0"');
  });

  test('no agent has counted anything', async () => {
    assert.is(parseOpenMetrics(await metricsText([{ agent: 'controller', rows: [] }], false)).size, 0);
  });

  test('a front-end gets the rows of each agent, and who did not answer', withSession(async (session) => {
    session.measured = ROWS;
    const client = session.connect();
    const got: AgentMetrics[] = [];
    const silent = await promised<readonly string[]>((done) =>
      client.call('client.metrics', {}, done, (one) => got.push(one)));
    assert.equal([got, silent], [['root:0', 'root:1'].map((agent) => ({ agent, rows: ROWS })), ['root:2']]);
    client.close();
  }));
});
