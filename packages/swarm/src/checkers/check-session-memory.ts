/** Bounds of what a session and its front-ends hold. */

import { resolveSettings } from '../worlds/assembly.js';
import type { SessionRun } from '../worlds/session-record.js';

/** The spool drops whole files, an eighth of its bound each, after a write of at most this. */
const WRITE_BYTES = 2 * 1024 * 1024;
/** Credit of a front-end, and one message more. */
const FRONT_END_BYTES = (1024 + 256) * 1024;

export function checkSessionMemory(run: SessionRun): string[] {
  const { options, peaks, frontEnds, diskBytesMax, unreleasedBytesMax } = run;
  const { params } = resolveSettings(options.settings);
  const jobs = options.jobs.length + 1;
  const problems = peaks.problems(params, { hosts: options.hosts, jobs });
  const check = (what: string, bytes: number, bound: number): void => {
    if (bytes > bound) problems.push(`${what}: ${bytes} bytes, at most ${bound} are stated`);
  };
  check('output that is not released', unreleasedBytesMax, jobs * params.int('iof.window'));
  check('disk', diskBytesMax, Math.min(options.diskBytes, jobs * (1.25 * options.spoolBytes + WRITE_BYTES)));
  for (const { plan, record } of frontEnds) {
    check(`a front-end of job ${plan.job}`, record.unreleasedBytesMax, FRONT_END_BYTES);
  }
  return problems;
}
