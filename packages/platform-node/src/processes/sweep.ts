/**
 * Ends daemons: orphaned processes of tools that have left their process group. They are found by the two marks that
 * they inherited, a variable in their environment and a limit (process-mark.ts). The search is repeated until it finds
 * nothing, since a process may fork between being found and being killed.
 *
 * A clean end costs next to nothing: while a job is young, the last process id that the system assigned shows which ids
 * were assigned since the first tool, and only those are searched. Later all processes of this user are.
 */

import type { Clock } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { isOfThisUser, newPids, ownPids, parentOf, type Since } from './proc.js';
import { limitOf, ownLimit } from './process-mark.js';

const PAUSE_MS = 20;

/** Processes that one turn looks at, some 2 ms: an agent's messages and heartbeats do not wait for the whole search. */
const TURN_PIDS = 10;

export interface SweepDeps {
  readonly clock: Clock;
  /** The first tool of this agent; undefined: not known. */
  readonly since: () => Since | undefined;
  /** The search found nothing, so the guardian need not search either. */
  readonly onClean: () => void;
}

function killAll(pids: readonly number[], ended: Set<number>): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
      ended.add(pid);
    } catch {
      // The process has ended by itself, or is another user's.
    }
  }
}

/** Calls `done` with the number of processes ended, once none is left or `deadlineMs` has passed. */
export function sweep(deps: SweepDeps, mark: string, deadlineMs: number, done: (ended: number) => void): void {
  const { clock, since, onClean } = deps;
  const endMs = clock.nowMs() + deadlineMs;
  const ended = new Set<number>();
  const check = (): void => search(clock, mark, ownPids(newPids(since(), clock.nowMs())), (found) => {
    killAll(found, ended);
    if (found.length > 0 && clock.nowMs() < endMs) return void clock.after(PAUSE_MS, check);
    if (found.length === 0) onClean();
    // Killed processes that still exist have not ended.
    for (const pid of found) ended.delete(pid);
    done(ended.size);
  });
  clock.soon(check);
}

/** Processes among `pids` with `mark`, or with our limit, of our user and no longer our descendants. */
function search(clock: Clock, mark: string, pids: readonly string[], done: (found: readonly number[]) => void): void {
  const needle = Buffer.from(mark);
  const found: number[] = [];
  const look = (from: number): void => {
    for (const pid of pids.slice(from, from + TURN_PIDS)) {
      if (Number(pid) !== process.pid && (holdsVariable(pid, needle) || isOrphan(pid))) found.push(Number(pid));
    }
    if (from + TURN_PIDS < pids.length) clock.soon(() => look(from + TURN_PIDS));
    else done(found);
  };
  look(0);
}

function holdsVariable(pid: string, needle: Buffer): boolean {
  try {
    // A zombie's environment reads as empty.
    return builtin('node:fs').readFileSync(`/proc/${pid}/environ`).includes(needle);
  } catch {
    return false;
  }
}

/**
 * Another user may have set our limit for his own processes (/proc/PID/limits is public): for those it shows nothing.
 * Descendants of this process (the guardian, ssh clients) are ended by the parts of the agent that started them.
 */
function isOrphan(pid: string): boolean {
  const limit = ownLimit();
  if (limit === undefined || limitOf(pid) !== limit || !isOfThisUser(pid)) return false;
  for (let at: number | undefined = Number(pid); at !== undefined && at > 1; at = parentOf(at)) {
    if (at === process.pid || builtin('node:fs').existsSync(`/proc/self/task/${at}`)) return false;
  }
  return parentOf(Number(pid)) !== undefined;
}
