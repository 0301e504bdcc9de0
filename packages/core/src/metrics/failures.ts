/** What a failure's record adds to the metrics. */

import type { FailureRecord } from '@stci/interface';
import type { Metrics } from './contracts.js';

export function countFailure(metrics: Metrics, record: FailureRecord): void {
  const { subject, cause, detector, achievedMs, suspectedWallMs, confirmedWallMs, notifiedWallMs } = record;
  metrics.count('failures', 1, { kind: subject.kind, cause });
  if (achievedMs !== undefined) metrics.count('detection_ms', achievedMs, { detector });
  metrics.count('suspicion_ms', Math.max(0, confirmedWallMs - suspectedWallMs), { detector });
  if (notifiedWallMs !== undefined) {
    metrics.count('propagation_ms', Math.max(0, notifiedWallMs - confirmedWallMs), { detector });
  }
}
