/**
 * Names, addresses and places of test hosts. A set of hosts has a name and a number of its own; everything
 * that it makes on the machine carries the set's name, so that a later run knows whose it is: network namespaces
 * `stci-SET-h1`, files below RUNTIME_DIRECTORY/SET. The set's number is the third byte of its addresses.
 */

import { join } from 'node:path';
import { isRoot, outerId } from './privilege.js';

/** Where every set of this user keeps its state. Not below /tmp and /dev/shm, which a host may have as its own. */
export const RUNTIME_DIRECTORY = isRoot ? '/run/stci-hosts' : `/var/tmp/stci-hosts-${outerId}`;
/** Where `ip netns` has the names; without root this is the holder's, see privilege.ts. */
export const NETNS_DIRECTORY = '/run/netns';

/** Most hosts in a set: their last address byte is 10 + i. */
export const HOSTS_MAX = 240;
/** Most sets at once: 10.77.0.0/24 to 10.77.255.0/24. */
export const SETS_MAX = 256;
/** The place from which the hosts are reached. */
export const LOGIN = 'login';
/** The namespace that holds the bridge; not a place to run anything. */
export const NETWORK = 'net';

/** Something about test hosts that cannot be done, and what to do instead. */
export class HostsError extends Error {
  override readonly name = 'HostsError';
}

/** `h1` … `hN`. */
export function hostNames(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `h${index + 1}`);
}

/** Throws where `set` cannot be a set's name. */
export function checkSetName(set: string): void {
  if (/^[a-z][a-z0-9]{0,7}$/.test(set)) return;
  throw new HostsError(`"${set}" is not the name of a set: one to eight of a-z and 0-9, a letter first`);
}

/** Throws where no set can have so many hosts. */
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

/** The directory with the names of a set's network namespaces, as this process sees it. */
export function netnsDirectory(set: string): string {
  return isRoot ? NETNS_DIRECTORY : join(placesOf(set).root, 'netns');
}

export function netnsPath(set: string, place: string): string {
  return join(netnsDirectory(set), netnsName(set, place));
}

/** The set of a namespace that these functions named; undefined for any other. */
export function setOfNetns(name: string): string | undefined {
  return /^stci-([a-z][a-z0-9]{0,7})-(?:login|net|h\d+)$/.exec(name)?.[1];
}

/** Files of one set. */
export interface Places {
  readonly set: string;
  readonly root: string;
  readonly state: string;
  /** The files bound over those of /etc. */
  readonly etc: string;
  /** Shells that do more than a shell. */
  readonly shells: string;
  /** HOME of the user on every host: one path, shared or with the host's own directory bound over it. */
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
