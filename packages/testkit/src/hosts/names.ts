/**
 * Names, addresses and directories of test hosts. Each set of hosts has a name and a number; all that it creates on the
 * machine has the set's name in its own, so that a later run can identify it: network namespaces `stci-SET-h1`, files
 * below RUNTIME_DIRECTORY/SET. The set's number is the third byte of its addresses.
 */

import { join } from 'node:path';
import { isRoot, outerId } from './privilege.js';

/** State of this user's sets. Not below /tmp and /dev/shm, which a host may have as its own. */
export const RUNTIME_DIRECTORY = isRoot ? '/run/stci-hosts' : `/var/tmp/stci-hosts-${outerId}`;
/** Directory of `ip netns`' names; without root it is in the holder's mounts, see privilege.ts. */
export const NETNS_DIRECTORY = '/run/netns';

/** Largest number of hosts in a set: the last byte of an address is 10 + i. */
export const HOSTS_MAX = 240;
/** Largest number of sets: 10.77.0.0/24 to 10.77.255.0/24. */
export const SETS_MAX = 256;
/** The place from which the hosts are reached. */
export const LOGIN = 'login';
/** The namespace with the bridge; no programs run in it. */
export const NETWORK = 'net';

/** An operation on test hosts that is not possible, and what to do instead. */
export class HostsError extends Error {
  override readonly name = 'HostsError';
}

/** `h1` … `hN`. */
export function hostNames(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `h${index + 1}`);
}

/** Throws if `set` is no valid name. */
export function checkSetName(set: string): void {
  if (/^[a-z][a-z0-9]{0,7}$/.test(set)) return;
  throw new HostsError(`"${set}" is not the name of a set: one to eight of a-z and 0-9, a letter first`);
}

/** Throws if the number of hosts is out of range. */
export function checkSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= HOSTS_MAX) return;
  throw new HostsError(`${size} is not a number of test hosts: give an integer from 1 to ${HOSTS_MAX}`);
}

/** Address of `h1` … `hN` or of the login side. */
export function addressOf(subnet: number, place: string): string {
  return `10.77.${subnet}.${place === LOGIN ? 1 : 10 + Number(place.slice(1))}`;
}

export function netnsName(set: string, place: string): string {
  return `stci-${set}-${place}`;
}

/** The directory of the names of a set's network namespaces, as this process sees it. */
export function netnsDirectory(set: string): string {
  return isRoot ? NETNS_DIRECTORY : join(placesOf(set).root, 'netns');
}

export function netnsPath(set: string, place: string): string {
  return join(netnsDirectory(set), netnsName(set, place));
}

/** The set of a namespace that was named by these functions; undefined for any other. */
export function setOfNetns(name: string): string | undefined {
  return /^stci-([a-z][a-z0-9]{0,7})-(?:login|net|h\d+)$/.exec(name)?.[1];
}

/** Files of one set. */
export interface Places {
  readonly set: string;
  readonly root: string;
  readonly state: string;
  /** Files bound over those of /etc. */
  readonly etc: string;
  /** Shells with special behaviour. */
  readonly shells: string;
  /** HOME of the user on every host: the same path, shared or with the host's own directory bound over it. */
  readonly home: string;
  readonly loginHome: string;
  readonly userKey: string;
  /** Directory of one host or of the login side: its start script, keys, log. */
  of(place: string): string;
  /** A host's private home, before it is bound. */
  privateHome(host: string): string;
}

export function placesOf(set: string): Places {
  const root = join(RUNTIME_DIRECTORY, set);
  return {
    set,
    root,
    state: join(root, 'state.json'),
    etc: join(root, 'etc'),
    shells: join(root, 'shells'),
    home: join(root, 'home'),
    loginHome: join(root, 'login-home'),
    userKey: join(root, 'user-key'),
    of: (place) => join(root, 'hosts', place),
    privateHome: (host) => join(root, 'homes', host),
  };
}
