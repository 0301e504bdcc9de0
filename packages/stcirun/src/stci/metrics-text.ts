/** The metrics of a session's agents as OpenMetrics text, by prom-client. */

import { BUCKETS_S, type AgentMetrics, type MetricRow } from '@stci/core/session';
import { AggregatorRegistry, Registry, type RegistryContentType } from 'prom-client';

/** A value as prom-client's registries hand it from process to process. */
interface Value {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Sums over all agents; `byAgent`: each agent's, with its name as label `agent`. */
export async function metricsText(agents: readonly AgentMetrics[], byAgent: boolean): Promise<string> {
  const all = agents.map(({ agent, rows }) => jsonOf(rows, byAgent ? { agent } : {}));
  const registry = AggregatorRegistry.aggregate<RegistryContentType>(all);
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const text = await registry.metrics();
  // What prom-client leaves out: the unit; an exposition without metrics has no empty line.
  return text.trimStart().replace(/^# TYPE (\w+_seconds) .*$/gmu, '$&\n# UNIT $1 seconds');
}

/** The rows of one agent, with those of one name together. */
function jsonOf(rows: readonly MetricRow[], added: Readonly<Record<string, string>>): object[] {
  const found = new Map<string, { name: string; help: string; type: string; aggregator: string; values: Value[] }>();
  for (const [name, type, help, flat, values] of rows) {
    const metric = found.get(name) ?? { name, help, type, aggregator: 'sum', values: [] };
    found.set(name, metric);
    const labels: Record<string, string> = { ...added };
    for (let i = 0; i + 1 < flat.length; i += 2) labels[flat[i]!] = flat[i + 1]!;
    if (type === 'counter') metric.values.push({ labels, value: values[0] ?? 0 });
    else metric.values.push(...histogramValues(name, labels, values));
  }
  return [...found.values()];
}

/** Labels are text: a bound is written as OpenMetrics recommends, `1.0`. */
function boundText(bound: number | undefined): string {
  if (bound === undefined) return '+Inf';
  return Number.isInteger(bound) ? bound.toFixed(1) : String(bound);
}

/** Cumulated, as the text has them. */
function histogramValues(name: string, labels: Readonly<Record<string, string>>, values: readonly number[]): Value[] {
  const [sum = 0, ...counts] = values;
  let total = 0;
  const buckets = counts.map((count, i): Value => {
    total += count;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: boundText(BUCKETS_S[i]) }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
