/** Checks a host's part of a job before its agent makes tools of it: shapes say that these are numbers, not which. */

import { StciError, type Spawn } from '@stci/interface';
import type { JobLimits } from './map.js';
import { grownSize } from './spawn.js';

/** The numbers of message `job.launch`. */
export interface LaunchNumbers {
  readonly size: number;
  readonly nodes: number;
  readonly apps: readonly unknown[];
  /** `[host, node, [[app, first, count, stride], …]]` each. */
  readonly spawns?: readonly Spawn[] | undefined;
  readonly hosts: readonly (readonly [number, number, readonly (readonly [number, number, number, number])[]])[];
}

/** Throws STCI_MESSAGE_INVALID. */
export function checkLaunch(
  { size: launched, nodes, apps, hosts, spawns = [] }: LaunchNumbers, limits: JobLimits,
): void {
  const size = grownSize(launched, spawns);
  within('ranks of the job', size, 1, limits.ranksMax);
  for (const [, node, runs] of hosts) {
    within('number of the host', node, 0, nodes - 1);
    for (const [app, first, count, stride] of runs) {
      // Of further programs an agent may not have been told.
      within('program', app < apps.length && apps[app] === undefined ? -1 : app, 0, apps.length - 1);
      within('ranks of a run', count, 1, limits.ranksPerHostMax);
      within('stride', stride, 1, size);
      within('last rank of a run', first + (count - 1) * stride, 0, size - 1);
    }
    within('ranks of the host', runs.reduce((sum, [, , count]) => sum + count, 0), 0, limits.ranksPerHostMax);
  }
}

/** Throws STCI_MESSAGE_INVALID for numbers of programs that no job has: each has a rank at least. */
export function checkSpawned(apps: readonly (readonly [number, unknown])[], ranksMax: number): void {
  for (const [app] of apps) within('program', app, 0, ranksMax - 1);
}

function within(what: string, value: number, min: number, max: number): void {
  if (value >= min && value <= max) return;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${what} in ${min}..${max} in job.launch, got ${value}`);
}
