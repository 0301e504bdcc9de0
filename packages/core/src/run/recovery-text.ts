/** What becomes of the hosts and ranks of a job, for `stcirun`, `stci start` and a session's log. */

import type { JobEvent, MemberEvent, RecoveryEvent, Spawn } from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { endText } from './report.js';

/** Without the failure itself. */
export function recoveryText({ phase, name, action, afterMs = 0, starts, spare, reason }: RecoveryEvent): string {
  switch (action) {
    case 'start-again': {
      const pause = afterMs > 0 ? ` in ${formatDuration(afterMs)}` : '';
      return `restarting the agent of host ${name}${pause}, attempt ${starts}`;
    }
    case 'use-spare':
      return `spare host ${spare} takes the place of ${name}${phase === 'launching' ? '' : ', for later jobs'}`;
    case 'leave-out':
      return `host ${name} is left out${reason === undefined ? '' : `: ${reason}`}`;
  }
}

/** What a detector says, and what has become of it. */
export function memberText(event: MemberEvent): string {
  switch (event.change) {
    case 'suspected':
      return `host ${event.name} is suspected by ${event.detector} at ${event.reporter}: ${event.evidence}`;
    case 'refuted':
      return `host ${event.name} answers: it has not failed`;
    case 'linked':
      return `host ${event.name} is linked again, to ${event.parent}`;
  }
}

/** Which ranks the job has got. */
export function spawnText({ parent, first, count }: Spawn): string {
  return `rank ${parent} spawns ${count === 1 ? `rank ${first}` : `ranks ${first}-${first + count - 1}`}`;
}

/** What ended, and that it is started again. */
export function restartText({ report, attempt, afterMs }: Extract<JobEvent, { type: 'restarting' }>): string {
  const pause = afterMs > 0 ? ` in ${formatDuration(afterMs)}` : '';
  const why = report.outcome === 'failed-start' ? `: ${report.error?.message}` : '';
  const ended = `rank ${report.rank} on ${report.host}: ${endText(report)}${why}`;
  return `${ended}; started again${pause}, attempt ${attempt}`;
}
