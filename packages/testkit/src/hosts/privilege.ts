/**
 * Privileges for test hosts. Root creates namespaces directly. Any other user creates them inside a user namespace in
 * which he is root: a holder process of each set keeps that namespace, and a mount namespace with its own /run for the
 * names of network namespaces. Programs on the hosts and on the login side, sshd included, run in a further user
 * namespace in which the user has his own id again: OpenSSH's server needs to change ids if it runs as root, but not if
 * it runs as the only user that logs in.
 */

import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';

/** Least number of ids that root has on a system, or in a container with its own ids. */
const SYSTEM_IDS_MIN = 65_536;
/** The user's id on the hosts if this process is root with no other id. */
const ORDINARY_ID = 1000;
const idMap = readIdMap();

/** The user that logs in on the hosts. */
export interface HostUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** False if a user namespace is needed; also for a root with a single id, as inside `unshare -Ur`. */
export const isRoot = process.geteuid?.() === 0 && idMap.reduce((sum, { size }) => sum + size, 0) >= SYSTEM_IDS_MIN;

/** This user's id outside any user namespace of his: part of his files' names, to keep them apart from other users'. */
export const outerId = outsideOf(process.geteuid?.() ?? 0);

export const hostUser: HostUser = isRoot ? { name: 'root', uid: 0, gid: 0 } : ordinaryUser();

/** Link to the /proc/PID of a set's holder, in the set's directory. */
export const HOLDER = 'holder';

/** Command that runs a program in namespaces of the set whose directory is `root`, as root there. */
export function enter(
  root: string,
  namespaces: readonly string[],
  argv: readonly string[],
): readonly [string, ...string[]] {
  const user = isRoot ? [] : [`--user=${join(root, HOLDER, 'ns/user')}`, '--preserve-credentials'];
  return ['nsenter', ...user, ...namespaces, ...argv];
}

/** The mount namespace, one of `namespaces`, that has the names of network namespaces. */
export function netnsNames(root: string): string[] {
  return isRoot ? [] : [`--mount=${join(root, HOLDER, 'ns/mnt')}`];
}

/** The same for `ip netns add`, which leaves a network namespace and must be able to enter it again. */
export function netnsNamesAndHome(root: string): string[] {
  return isRoot ? [] : [...netnsNames(root), `--net=${join(root, HOLDER, 'ns/net')}`];
}

/** Prefix of the user's own program inside a set: restores his id. The process stays the same. */
export function asHostUser(): string[] {
  if (isRoot) return [];
  return ['unshare', '--user', `--map-user=${hostUser.uid}`, `--map-group=${hostUser.gid}`, '--'];
}

/**
 * The same for a program that enters a host: it joins the user namespace of the host's first process, which all logins
 * on the host share. Processes of two such namespaces could not read each other's /proc/PID/environ.
 */
export function withHostUser(): string[] {
  return isRoot ? [] : ['nsenter', '--user=/proc/1/ns/user', '--preserve-credentials', '--'];
}

function ordinaryUser(): HostUser {
  const [uid = 0, gid = 0] = [process.geteuid?.(), process.getegid?.()].map((id) => (id === 0 ? ORDINARY_ID : id));
  return { name: uid === process.geteuid?.() ? accountName() : 'user', uid, gid };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'user';
  }
}

interface IdRange {
  readonly inside: number;
  readonly outside: number;
  readonly size: number;
}

function readIdMap(): IdRange[] {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n').map((line) => line.trim().split(/\s+/));
    return lines.map((line) => {
      const [inside = 0, outside = 0, size = 0] = line.map(Number);
      return { inside, outside, size };
    });
  } catch {
    return [];
  }
}

function outsideOf(id: number): number {
  const range = idMap.find(({ inside, size }) => id >= inside && id < inside + size);
  return range === undefined ? id : range.outside + id - range.inside;
}
