/** Metrics, as the front-ends of a session ask for them. */

import type { StciError } from '@stci/interface';
import type { MetricRow } from '../metrics/row.js';

/** Who asks. */
export interface GatheredMetrics {
  onAgent(agent: string, rows: readonly MetricRow[]): void;
  /** All have answered but these; with `error`, none was asked. */
  onDone(silent: readonly string[], error?: StciError): void;
}

/** Metrics of all agents that run. */
export interface SessionMetrics {
  gather(gathered: GatheredMetrics): void;
}
