/**
 * By which privilege test hosts are made. Root makes namespaces directly. Anybody else makes them inside a user
 * namespace, where he is root: a holder process of each set keeps that namespace, and with it a mount namespace with
 * a /run of its own for the names of network namespaces. Programs on the hosts and on the login side, sshd among
 * them, run in one more user namespace, where the user has his own id again: OpenSSH's server needs ids that it can
 * change to when it runs as root, and needs none when it runs as the only user that logs in.
 */

import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';

/** Ids that root of a system, or of a container with ids of its own, has at least. */
const SYSTEM_IDS_MIN = 65_536;
/** The user's id on the hosts where his own is that of a root who has only this one. */
const ORDINARY_ID = 1000;
const idMap = readIdMap();

/** Who logs in on the hosts. */
export interface HostUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** False where a user namespace is needed; also for a root with a single id, as inside `unshare -Ur`. */
export const isRoot = process.geteuid?.() === 0 && idMap.reduce((sum, { size }) => sum + size, 0) >= SYSTEM_IDS_MIN;

/** What this user is outside of a user namespace that he is in: names his files, which others' are beside. */
export const outerId = outsideOf(process.geteuid?.() ?? 0);

export const hostUser: HostUser = isRoot ? { name: 'root', uid: 0, gid: 0 } : ordinaryUser();

/** What a set's holder is reached by, below the set's directory: a link to its /proc/PID. */
export const HOLDER = 'holder';

/** What to spawn to run a program in namespaces of the set whose directory is `root`, with its root's privilege. */
export function enter(
  root: string,
  namespaces: readonly string[],
  argv: readonly string[],
): readonly [string, ...string[]] {
  const user = isRoot ? [] : [`--user=${join(root, HOLDER, 'ns/user')}`, '--preserve-credentials'];
  return ['nsenter', ...user, ...namespaces, ...argv];
}

/** Among `namespaces`: the mounts among which the names of network namespaces are. */
export function netnsNames(root: string): string[] {
  return isRoot ? [] : [`--mount=${join(root, HOLDER, 'ns/mnt')}`];
}

/** The same for `ip netns add`, which leaves a network namespace and must be allowed to come back to it. */
export function netnsNamesAndHome(root: string): string[] {
  return isRoot ? [] : [...netnsNames(root), `--net=${join(root, HOLDER, 'ns/net')}`];
}

/** Goes in front of the user's own program inside a set: gives him his id back. The process stays the same. */
export function asHostUser(): string[] {
  if (isRoot) return [];
  return ['unshare', '--user', `--map-user=${hostUser.uid}`, `--map-group=${hostUser.gid}`, '--'];
}

/**
 * The same for a program that enters a host: it joins the user namespace of the host's first process, and so of all
 * who log in there. Processes of two such namespaces could not read each other's /proc/PID/environ.
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
