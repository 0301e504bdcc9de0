/**
 * Metrics by the name under which they are counted. Names and units as OpenMetrics has them: `stci_`, base units, so
 * that what is counted in ms is told in seconds.
 */

import type { MetricSpec } from '@stci/interface';

/** One metric as it is told; times are in s. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'histogram';
  readonly help: string;
}

function counter(name: string, help: string): MetricFamily {
  return { name, type: 'counter', help };
}

function timeMs(name: string, help: string): MetricFamily {
  return { name, type: 'histogram', help };
}

/** What core counts itself. */
export const METRICS: Readonly<Record<string, MetricFamily>> = {
  lag_ms: timeMs('stci_agent_lag_seconds', 'How long an agent stood still, each time that a detector noticed it.'),
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
  const told = name.replace(/_ms$/u, '_seconds');
  return { name: `stci_detector_${told}`, type, help };
}
