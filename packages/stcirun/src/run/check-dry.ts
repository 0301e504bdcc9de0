/** What can be checked of a job that is planned, but not run. */

import { checkFailureParts } from '@stci/core';
import { checkPrograms } from './check-programs.js';
import type { PlannedRun } from './plan-run.js';

/** Throws StciError. */
export function checkDry({ spec, map, isHere, session, scope, params }: PlannedRun): void {
  checkPrograms(spec, map, isHere);
  if (session === undefined) checkFailureParts(scope, params, spec.hosts.length, false);
}
