/**
 * The group of a command that starts an agent: what a wrapper has started there ends with it. Its guardian is left,
 * which then ends the agent's tools and itself: the shell that became the agent may have forked it in this group.
 */

import { builtin } from '../system/builtin.js';
import { groupMembers, groupSize } from './proc.js';

/** HUP INT QUIT USR1 USR2 PIPE ALRM TERM TSTP TTIN TTOU: what the guardian, and what it runs, ignores. */
const IGNORED = [1, 2, 3, 10, 12, 13, 14, 15, 20, 21, 22]
  .reduce((mask, signal) => mask | (1n << BigInt(signal - 1)), 0n);

/** A process that was killed may have forked just before. */
const ROUNDS_MAX = 8;

function isGuardian(pid: number): boolean {
  try {
    const status = builtin('node:fs').readFileSync(`/proc/${pid}/status`, 'latin1');
    const text = /^SigIgn:\s*([0-9a-f]+)$/mu.exec(status)?.[1];
    return text !== undefined && (BigInt(`0x${text}`) & IGNORED) === IGNORED;
  } catch {
    return false;
  }
}

/** Kills what is left of the group of the leader `group`, a session's. `isLeaderOver`: its end was reported. */
export function endAgentGroup(group: number, isLeaderOver: boolean): void {
  for (let round = 0; round < ROUNDS_MAX && groupSize(group, isLeaderOver) > 0; round += 1) {
    const members = groupMembers(group).filter((pid) => !isGuardian(pid));
    if (members.length === 0) return;
    for (const pid of members) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended, or is another user's.
      }
    }
  }
}
