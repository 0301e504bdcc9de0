/** What a detector's actions add to the metrics. */

import type { DetectorAction } from '@stci/interface';
import type { Metrics } from './contracts.js';

const COUNTERS = { report: 'reports', suspect: 'suspicions', trust: 'suspicions_false' } as const;

export function countAction(metrics: Metrics, detector: string, action: DetectorAction): void {
  if (action.type === 'count') metrics.count(action.metric, action.value, { detector });
  else if (action.type !== 'send') metrics.count(COUNTERS[action.type], 1, { detector });
}
