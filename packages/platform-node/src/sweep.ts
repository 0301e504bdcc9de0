/**
 * Ends what tools left behind that left their process group: daemons. They are found by the two marks that they
 * inherited, a variable in their environment and a limit (process-mark.ts). Twice at least, since a process may fork
 * between the look at it and its end.
 *
 * A clean end costs next to nothing: while a job is young, the last process id that the system gave tells whether
 * anything was started since the first tool, and only those ids are looked at. Later all processes of this user are.
 */

import type { Clock } from '@stci/interface';
import { newPids, ownPids, parentOf, type Since } from './proc.js';
import { builtin } from './builtin.js';
import { limitOf, ownLimit } from './process-mark.js';

const PAUSE_MS = 20;

export interface SweepDeps {
  readonly clock: Clock;
  /** The first tool of this agent; undefined: not known. */
  readonly since: () => Since | undefined;
  /** Nothing is left that a guardian would have to look for. */
  readonly onClean: () => void;
}

function killAll(pids: readonly number[], ended: Set<number>): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
      ended.add(pid);
    } catch {
      // It ended by itself, or is not ours.
    }
  }
}

/** Tells how many processes were ended, when none is left or `deadlineMs` has passed. */
export function sweep(deps: SweepDeps, mark: string, deadlineMs: number, done: (ended: number) => void): void {
  const { clock, since, onClean } = deps;
  const endMs = clock.nowMs() + deadlineMs;
  const ended = new Set<number>();
  const check = (): void => {
    const found = leftovers(mark, since(), clock.nowMs());
    killAll(found, ended);
    if (found.length > 0 && clock.nowMs() < endMs) return void clock.after(PAUSE_MS, check);
    if (found.length === 0) onClean();
    done(ended.size);
  };
  clock.soon(check);
}

/** Living processes of this user that carry `mark`, or that carry our limit and are no descendants of ours any more. */
function leftovers(mark: string, since: Since | undefined, nowMs: number): number[] {
  const needle = Buffer.from(mark);
  const found = ownPids(newPids(since, nowMs)).filter((pid) => holdsVariable(pid, needle) || isOrphan(pid));
  return found.map(Number).filter((pid) => pid !== process.pid);
}

function holdsVariable(pid: string, needle: Buffer): boolean {
  try {
    // A zombie's environment reads as empty.
    return builtin('node:fs').readFileSync(`/proc/${pid}/environ`).includes(needle);
  } catch {
    return false;
  }
}

/** What is still below this process (the guardian, ssh clients) is cared for by those who started it. */
function isOrphan(pid: string): boolean {
  const limit = ownLimit();
  if (limit === undefined || limitOf(pid) !== limit) return false;
  for (let at: number | undefined = Number(pid); at !== undefined && at > 1; at = parentOf(at)) {
    if (at === process.pid || builtin('node:fs').existsSync(`/proc/self/task/${at}`)) return false;
  }
  return parentOf(Number(pid)) !== undefined;
}
