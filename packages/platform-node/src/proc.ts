/**
 * What /proc tells of processes: members of a group, and whose environment holds a mark. A zombie is dead: it holds
 * its number, and so its group's, but runs nothing.
 */

import { builtin } from './builtin.js';

/** All process ids of this machine (or of our namespace). */
function pids(): string[] {
  try {
    return builtin('node:fs')
      .readdirSync('/proc')
      .filter((name) => name.charCodeAt(0) <= 57 && name.charCodeAt(0) >= 48);
  } catch {
    return [];
  }
}

/** State letter and group of a process; undefined where it is gone. */
function stateOf(pid: string): { readonly state: string; readonly group: number } | undefined {
  try {
    const text = builtin('node:fs').readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold spaces and parentheses: the fields begin behind the last one.
    const [state, , group] = text.slice(text.lastIndexOf(')') + 2).split(' ', 3);
    return state === undefined || group === undefined ? undefined : { state, group: Number(group) };
  } catch {
    return undefined;
  }
}

function isDead(state: string): boolean {
  return state === 'Z' || state === 'X';
}

/** True while the process group has a member that is no zombie. */
export function liveGroup(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return pids().some((pid) => {
    const facts = stateOf(pid);
    return facts !== undefined && facts.group === group && !isDead(facts.state);
  });
}

/** Processes of ours whose environment holds `mark`, dead ones and ourselves left out. */
export function markedPids(mark: string): number[] {
  const { readFileSync } = builtin('node:fs');
  const needle = Buffer.from(mark);
  return pids()
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
