/** Bounds of what each agent of a session holds, by what its declaration says it may. */

import { resolveSettings } from './assembly.js';
import type { SessionRun } from './session-record.js';

/** Messages of control that may be under way. */
const CONTROL_BYTES = 128 * 1024;
/** Output of one session agent is acknowledged after so many bytes at the latest. */
const ACK_BYTES = 1024 * 1024;
/** A kept frame counts for at least 256 bytes, and uses at least 64 of the window. */
const CHARGE_FACTOR = 4;
/** Broadcasts kept of one job. */
const BROADCAST_BYTES = 5 * 1024 * 1024;
/** The spool drops whole files, an eighth of its bound each, after a write of at most this. */
const WRITE_BYTES = 2 * 1024 * 1024;

export function checkSessionMemory({ options, peaks, diskBytesMax, unreleasedBytesMax }: SessionRun): string[] {
  const { params } = resolveSettings(options.settings);
  const window = params.int('iof.window');
  const share = Math.floor(window / options.hosts);
  const jobs = options.jobs.length + 1;
  const problems: string[] = [];
  const check = (what: string, bytes: number, bound: number): void => {
    if (bytes > bound) problems.push(`${what}: ${bytes} bytes, at most ${bound} are stated`);
  };
  for (const [name, { unacknowledged, broadcasts, early, queued }] of peaks) {
    const ofOutput = name.startsWith('session') ? CHARGE_FACTOR * share + ACK_BYTES : jobs * window;
    check(`${name}, unacknowledged`, unacknowledged, ofOutput + CONTROL_BYTES);
    check(`${name}, broadcasts`, broadcasts, jobs * BROADCAST_BYTES);
    check(`${name}, early frames`, early, jobs * window);
    check(`${name}, queue of a link`, queued, Math.min(jobs * window + CONTROL_BYTES, params.int('bootcom.queue.max')));
  }
  check('output that is not released', unreleasedBytesMax, jobs * window);
  check('disk', diskBytesMax, Math.min(options.diskBytes, jobs * (1.25 * options.spoolBytes + WRITE_BYTES)));
  return problems;
}
