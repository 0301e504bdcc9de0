/** Checks a host's part of a job before its agent makes tools of it: shapes say that these are numbers, not which. */

import { StciError } from '@stci/interface';
import type { JobLimits } from './map.js';

/** The numbers of message `job.launch`. */
export interface LaunchNumbers {
  readonly size: number;
  readonly nodes: number;
  readonly apps: readonly unknown[];
  /** `[host, node, [[app, first, count, stride], …]]` each. */
  readonly hosts: readonly (readonly [number, number, readonly (readonly [number, number, number, number])[]])[];
}

/** Throws STCI_MESSAGE_INVALID. */
export function checkLaunch({ size, nodes, apps, hosts }: LaunchNumbers, limits: JobLimits): void {
  within('ranks of the job', size, 1, limits.ranksMax);
  for (const [, node, runs] of hosts) {
    within('number of the host', node, 0, nodes - 1);
    for (const [app, first, count, stride] of runs) {
      within('program', app, 0, apps.length - 1);
      within('ranks of a run', count, 1, limits.ranksPerHostMax);
      within('stride', stride, 1, size);
      within('last rank of a run', first + (count - 1) * stride, 0, size - 1);
    }
    within('ranks of the host', runs.reduce((sum, [, , count]) => sum + count, 0), 0, limits.ranksPerHostMax);
  }
}

function within(what: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${what} in ${min}..${max} in job.launch, got ${value}`);
}
