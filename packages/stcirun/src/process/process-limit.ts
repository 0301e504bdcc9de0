/**
 * Checks the limit of processes and threads (`ulimit -u`). Node aborts without a message when it cannot create its
 * threads. So the user's threads are counted first, where the limit is small enough to matter; root has no limit.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { StciError } from '@stci/interface';

/** Threads of one Node at work: itself, V8's helpers, the debugger's, the pool for files. */
const NODE_THREADS = 11;
/** What an agent starts at least: its guardian, the shell that makes pipes, a program. */
const AGENT_CHILDREN = 3;
export const AGENT_THREADS = NODE_THREADS + AGENT_CHILDREN;
/** stcirun and an agent. */
export const RUN_THREADS = NODE_THREADS + AGENT_THREADS;

/** Larger limits are not checked, since a user seldom runs so many at once. */
const LIMIT_MAX = 4096;

/** Throws STCI_LAUNCH_FAILED where this process and its children may not have `needed` processes and threads. */
export function checkProcessLimit(who: string, needed: number): void {
  const limit = limitOfProcesses();
  if (limit === undefined || limit > LIMIT_MAX || process.geteuid?.() === 0) return;
  const others = threadsOfOthers();
  if (limit - others >= needed) return;
  throw new StciError(
    'STCI_LAUNCH_FAILED',
    `The limit of processes and threads (ulimit -u ${limit}) is too low: this user has ${others} already, and ${who} `
      + `needs ${needed} more.\n  Raise it to ${others + needed} at least, or end other processes.`,
  );
}

function limitOfProcesses(): number | undefined {
  try {
    const text = /^Max processes\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return text === undefined ? undefined : Number(text);
  } catch {
    return undefined;
  }
}

/** Threads of this user's processes, without this one and its children. */
function threadsOfOthers(): number {
  const uid = process.geteuid?.();
  let count = 0;
  for (const pid of readdirSync('/proc')) {
    try {
      if (!/^\d+$/.test(pid) || statSync(`/proc/${pid}`).uid !== uid) continue;
      const status = readFileSync(`/proc/${pid}/status`, 'latin1');
      const number = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      if (![number('Pid'), number('PPid')].includes(process.pid)) count += number('Threads');
    } catch {
      // The process has ended.
    }
  }
  return count;
}
