/**
 * Processes that a test file left over. Every process that the file started, directly or not, carries the file's mark
 * in its environment; on Linux it is in /proc. They are reported, then ended by their pids.
 */

import { readFileSync, readdirSync } from 'node:fs';
import { MARK_VARIABLE } from '@stci/compliance/record';

const GRACE_MS = 1_000;
const POLL_MS = 20;
const ROUNDS_MAX = 12;
const QUIET_ROUNDS = 3;

export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/**
 * Ends all processes with the mark, and what they start meanwhile. One that is about to become another program has no
 * mark for a moment: nothing is left if nothing is found several times.
 */
export async function endAll(mark: string): Promise<void> {
  let quiet = 0;
  for (let round = 0; round < ROUNDS_MAX && quiet < QUIET_ROUNDS; round += 1) {
    quiet = (await endLeftovers(mark)).length === 0 ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Waits a short time for the processes with the mark to end, then kills and returns the rest. */
export async function endLeftovers(mark: string): Promise<Leftover[]> {
  const endMs = performance.now() + GRACE_MS;
  let left = marked(mark);
  while (left.length > 0 && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    left = marked(mark);
  }
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended by itself meanwhile.
    }
  }
  return left;
}

/** Processes that run now, this process excluded. */
export function marked(mark: string): Leftover[] {
  const found: Leftover[] = [];
  for (const entry of processDirectories()) {
    const pid = Number(entry);
    if (pid === process.pid) continue;
    if (!carries(readProc(entry, 'environ'), mark)) continue;
    found.push({ pid, command: readProc(entry, 'cmdline').split('\0').join(' ').trim() });
  }
  return found;
}

/** A mark is a path: a runner inside a test appends to its own with `/`. */
function carries(environment: string, mark: string): boolean {
  const wanted = `${MARK_VARIABLE}=${mark}`;
  return environment.split('\0').some((entry) => entry === wanted || entry.startsWith(`${wanted}/`));
}

function processDirectories(): string[] {
  try {
    return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  } catch {
    return [];
  }
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
