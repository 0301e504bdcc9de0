/**
 * Metrics by the name under which they are counted. Names and units as OpenMetrics has them: `stci_`, base units, so
 * that what is counted in ms is told in seconds.
 */

import type { MetricSpec } from '@stci/interface';

/** One metric as it is told. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'histogram';
  readonly help: string;
  /** Of the unit told, one of the unit counted. */
  readonly scale: number;
}

/** Upper bounds of the buckets of all histograms, which are of times, s. */
export const BUCKETS_S: readonly number[] = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60,
];

const MS = 0.001;

function counter(name: string, help: string): MetricFamily {
  return { name, type: 'counter', help, scale: 1 };
}

function timeMs(name: string, help: string): MetricFamily {
  return { name, type: 'histogram', help, scale: MS };
}

/** What core counts itself. */
export const METRICS: Readonly<Record<string, MetricFamily>> = {
  lag: timeMs('stci_agent_lag_seconds', 'How long an agent stood still, each time that a detector noticed it.'),
  messages_malformed: counter('stci_agent_messages_malformed', 'Messages of detectors and notifiers refused.'),
  messages_unsent: counter('stci_agent_messages_unsent', 'Messages of detectors and notifiers that had no route.'),
  notices: counter('stci_notifier_messages', 'Messages that a notifier sent.'),
  suspicions: counter('stci_detector_suspicions', 'Agents that a detector suspected, having missed a sign of life.'),
  suspicions_false: counter('stci_detector_suspicions_false', 'Suspicions that a later sign of life took back.'),
  reports: counter('stci_detector_reports', 'Agents and programs that a detector reported.'),
  failures: counter('stci_failures', 'Failures on record, by what failed and how that is known.'),
  detection_ms: timeMs('stci_failure_detection_seconds', 'From a failure, where its time is known, to its report.'),
  suspicion_ms: timeMs('stci_failure_suspicion_seconds', 'From the first suspicion to the report.'),
  propagation_ms: timeMs('stci_failure_propagation_seconds', 'From the report until the last agent was told.'),
  restarts: counter('stci_tool_restarts', 'Programs that their session agent started again.'),
  link_round_trip_ms: timeMs('stci_link_round_trip_seconds', 'From an echo over a link to its answer.'),
  repairs: counter('stci_tree_repairs', 'Agents that were linked to another parent.'),
};

/** Family of a metric that a detector declares: `round_trip_ms` is `stci_detector_round_trip_seconds`. */
export function detectorFamily(name: string, { type, help }: MetricSpec): MetricFamily {
  const isMs = name.endsWith('_ms');
  const told = isMs ? `${name.slice(0, -'_ms'.length)}_seconds` : name;
  return { name: `stci_detector_${told}`, type, help, scale: isMs ? MS : 1 };
}
