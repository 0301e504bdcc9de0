/**
 * Ends what carries a mark in its environment: daemons that left their process group. Twice at least, since a
 * process may fork between our look at it and its end.
 */

import type { Clock } from '@stci/interface';
import { markedPids } from './proc.js';

const PAUSE_MS = 20;

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
export function sweep(clock: Clock, mark: string, deadlineMs: number, done: (ended: number) => void): void {
  const endMs = clock.nowMs() + deadlineMs;
  const ended = new Set<number>();
  const check = (): void => {
    const found = markedPids(mark);
    killAll(found, ended);
    if (found.length === 0 || clock.nowMs() >= endMs) done(ended.size);
    else clock.after(PAUSE_MS, check);
  };
  clock.soon(check);
}
