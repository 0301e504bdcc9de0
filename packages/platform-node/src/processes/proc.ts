/**
 * Facts of processes from /proc: members of a group, parents, owners, and new ones. A zombie counts as dead: it holds
 * its process id, and so its group's, but runs nothing.
 */

import { builtin } from '../system/builtin.js';

/** All process ids of this machine (or of this process's namespace). */
function pids(): string[] {
  return builtin('node:fs')
    .readdirSync('/proc')
    .filter((name) => name.charCodeAt(0) <= 57 && name.charCodeAt(0) >= 48);
}

/** Empty without /proc. */
function allPids(): string[] {
  try {
    return pids();
  } catch {
    return [];
  }
}

interface Facts {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** undefined if the process is gone; throws if that cannot be determined (no free descriptor to read with). */
function factsOf(pid: string): Facts | undefined {
  try {
    const text = builtin('node:fs').readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain spaces and parentheses: the fields begin after the last one.
    const [state, parent, group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ', 4);
    return { state: state ?? 'X', parent: Number(parent), group: Number(group), session: Number(session) };
  } catch (error) {
    const errno = (error as NodeJS.ErrnoException).code;
    if (errno === 'ENOENT' || errno === 'ESRCH') return undefined;
    throw error;
  }
}

function isDead(state: string): boolean {
  return state === 'Z' || state === 'X';
}

/** The number is in use as a group id, by our tool or another program. */
function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Living members of the group in the same session. */
function membersOf(group: number): number[] {
  const isMember = (facts: Facts | undefined): boolean =>
    facts !== undefined && facts.group === group && facts.session === group && !isDead(facts.state);
  return pids().filter((pid) => isMember(factsOf(pid))).map(Number);
}

/** Process ids of a group that `groupSize` has just found; empty if /proc cannot be read. */
export function groupMembers(group: number): readonly number[] {
  try {
    return membersOf(group);
  } catch {
    return [];
  }
}

/**
 * Number of living members of the group of a session's leader. The system does not reuse an id while it is that of a
 * process, a group or a session; so if a process has the id of a leader that has ended (`isLeaderOver`), or a group has
 * it but no session, it belongs to another program, and the group is gone. If /proc cannot be read, an existing group
 * counts as one member.
 */
export function groupSize(group: number, isLeaderOver: boolean): number {
  if (!groupExists(group)) return 0;
  try {
    const members = membersOf(group);
    return isLeaderOver && members.includes(group) ? 0 : members.length;
  } catch {
    return 1;
  }
}

/** The parent of a living process; undefined if that is dead or cannot be read. */
export function parentOf(pid: number): number | undefined {
  try {
    const facts = factsOf(String(pid));
    return facts === undefined || isDead(facts.state) ? undefined : facts.parent;
  } catch {
    return undefined;
  }
}

/** A process to compare others with: its id, and when it was started (`Clock.nowMs`). */
export interface Since {
  readonly pid: number;
  readonly atMs: number;
}

/** A time in which the system does not assign every process id once. */
const YOUNG_MS = 1000;
/** Up to this many ids are probed one by one; for more, listing all processes is cheaper. */
const IDS_MAX = 256;

/** Ids of processes that may have been started after `since`; all ids if these cannot be determined cheaply. */
export function newPids(since: Since | undefined, nowMs: number): readonly string[] {
  if (since === undefined || nowMs - since.atMs > YOUNG_MS) return allPids();
  const count = lastPid() - since.pid;
  if (!(count >= 0 && count <= IDS_MAX)) return allPids();
  return Array.from({ length: count + 1 }, (_, index) => String(since.pid + index));
}

/** The id that the system assigned last, in this namespace; NaN if unknown. */
function lastPid(): number {
  try {
    return Number(builtin('node:fs').readFileSync('/proc/loadavg', 'latin1').trimEnd().split(' ').at(-1));
  } catch {
    return NaN;
  }
}

/**
 * Real, effective, saved and file system user ids of `pid` are those of this process. The owner of `/proc/PID` is the
 * effective one alone: a program that is setuid root would pass for root's, whoever started it. False: it is gone, or
 * cannot be read.
 */
export function isOfThisUser(pid: string): boolean {
  const ids = idsOf(pid);
  return ids !== undefined && ids === idsOf('self');
}

function idsOf(pid: string): string | undefined {
  try {
    return /^Uid:(.*)$/m.exec(builtin('node:fs').readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  } catch {
    return undefined;
  }
}

/** Processes among `pids` that belong to this user; root: all. */
export function ownPids(pids: readonly string[]): readonly string[] {
  const { statSync } = builtin('node:fs');
  const uid = process.geteuid?.();
  if (uid === 0) return pids;
  return pids.filter((pid) => {
    try {
      return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid;
    } catch {
      return false;
    }
  });
}
