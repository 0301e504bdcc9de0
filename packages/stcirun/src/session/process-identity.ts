/** Whether a process that was recorded still runs: its id may have been given to another one since. */

import { readFileSync, readlinkSync } from 'node:fs';

/**
 * A process: `since` is when it was started, in the system's ticks; `boot` names the run of the
 * system, `space` the PID namespace, outside of which the id means nothing.
 */
export interface ProcessIdentity {
  readonly pid: number;
  readonly since: string;
  readonly boot: string;
  readonly space: string;
}

/** Place of the start time among the fields of /proc/PID/stat behind the name. */
const START_FIELD = 19;

export function identityOf(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain spaces and parentheses: the fields begin after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return { pid, since: fields[START_FIELD] ?? '', boot, space: readlinkSync('/proc/self/ns/pid') };
  } catch {
    return undefined;
  }
}

export function isRunning(process: ProcessIdentity): boolean {
  const now = identityOf(process.pid);
  return now?.since === process.since && now.boot === process.boot;
}

/** It may run where this process cannot see it: in another container of this machine. */
export function isElsewhere({ boot, space }: ProcessIdentity): boolean {
  const own = identityOf(process.pid);
  return own?.boot === boot && own.space !== space;
}
