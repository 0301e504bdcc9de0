/**
 * What /proc tells of processes: members of a group, and whose environment holds a mark. A zombie is dead: it holds
 * its number, and so its group's, but runs nothing.
 */

import { builtin } from './builtin.js';

/** All process ids of this machine (or of our namespace). */
function pids(): string[] {
  return builtin('node:fs')
    .readdirSync('/proc')
    .filter((name) => name.charCodeAt(0) <= 57 && name.charCodeAt(0) >= 48);
}

/** None where there is no /proc. */
function allPids(): string[] {
  try {
    return pids();
  } catch {
    return [];
  }
}

interface Facts {
  readonly state: string;
  readonly group: number;
  readonly session: number;
}

/** undefined where the process is gone; throws where that cannot be known (no descriptor is left to read it). */
function factsOf(pid: string): Facts | undefined {
  try {
    const text = builtin('node:fs').readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold spaces and parentheses: the fields begin behind the last one.
    const [state, , group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ', 4);
    return { state: state ?? 'X', group: Number(group), session: Number(session) };
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code;
    if (errno === 'ENOENT' || errno === 'ESRCH') return undefined;
    throw error;
  }
}

function isDead(state: string): boolean {
  return state === 'Z' || state === 'X';
}

/** The number is in use as a group's, ours or a stranger's. */
function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Living members of the group of the same session; 0 where `isLeaderOver` and a leader lives. */
function countMembers(group: number, isLeaderOver: boolean): number {
  let size = 0;
  for (const pid of pids()) {
    const facts = factsOf(pid);
    if (facts === undefined || facts.group !== group || facts.session !== group || isDead(facts.state)) continue;
    if (isLeaderOver && Number(pid) === group) return 0;
    size++;
  }
  return size;
}

/**
 * Number of living members of the group of a session's leader. The system gives a number to nobody while it is in
 * use as a process, a group or a session; so whatever bears that of a leader that is over (`isLeaderOver`), or has it
 * as a group but not as a session, is a stranger's, and ours is gone. Where /proc cannot be read, a group that exists
 * counts as one.
 */
export function groupSize(group: number, isLeaderOver: boolean): number {
  if (!groupExists(group)) return 0;
  try {
    return countMembers(group, isLeaderOver);
  } catch {
    return 1;
  }
}

/** Processes of ours whose environment holds `mark`, dead ones and ourselves left out. */
export function markedPids(mark: string): number[] {
  const { readFileSync } = builtin('node:fs');
  const needle = Buffer.from(mark);
  return allPids()
    .filter((pid) => {
      try {
        // A zombie's environment reads as empty.
        return readFileSync(`/proc/${pid}/environ`).includes(needle);
      } catch {
        return false;
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
}
