/**
 * Special properties of test hosts: a table of traits with the behaviour of each. A trait is what a launcher finds on
 * the host, made with real means (mounts, sshd's configuration, a shell), never with a modified tool.
 */

import { HostsError } from './names.js';

export const TRAITS = {
  'private-home': 'HOME is this host’s own, not shared with the others',
  'private-tmp': '/tmp is this host’s own',
  'readonly-home': 'HOME is its own and mounted read-only',
  'full-disk': 'HOME is its own, tiny and full',
  'no-node': 'there is no node, neither in PATH nor where this process has its own',
  'old-node': 'node says it is v18.20.4, and runs programs',
  'banner': 'the shell prints a greeting on standard output and error before anything else',
  'shell-exits': 'the shell says that the account is not available and exits with 1',
  'slow-login': 'the shell waits before it does anything: slow-login:MS, 1 to 600000',
  'key-refused': 'sshd accepts no key: permission denied',
  'password': 'sshd accepts a password only, and none is right',
  'unknown-host-key': 'known_hosts of login side and hosts does not name this host',
  'changed-host-key': 'known_hosts has another key for this host',
  'no-sshd': 'the host runs without sshd: connection refused',
  'silent': 'packets to it vanish: a connection attempt gets no answer at all',
  'absent': 'the address has no host: no route to host, after about 3 s',
} as const;

export type TraitName = keyof typeof TRAITS;

const DELAY_MS_MAX = 600_000;

export interface Traits {
  readonly names: ReadonlySet<TraitName>;
  /** 0 without slow-login. */
  readonly loginDelayMs: number;
}

/** Parses `no-node`, `slow-login:30000`. Throws a HostsError that lists the traits. */
export function parseTraits(words: readonly string[]): Traits {
  const names = new Set<TraitName>();
  let loginDelayMs = 0;
  for (const word of words) {
    const [name = '', value] = word.split(':');
    if (!Object.hasOwn(TRAITS, name)) {
      throw new HostsError(`no trait "${name}"; there are ${Object.keys(TRAITS).join(', ')}`);
    }
    names.add(name as TraitName);
    if (name === 'slow-login') loginDelayMs = delay(value);
    else if (value !== undefined) throw new HostsError(`the trait ${name} takes no value, not "${value}"`);
  }
  return { names, loginDelayMs };
}

/** True if the host's HOME is not the shared one. */
export function hasOwnHome({ names }: Traits): boolean {
  return names.has('private-home') || names.has('readonly-home') || names.has('full-disk');
}

function delay(value: string | undefined): number {
  const ms = Number(value ?? NaN);
  if (Number.isInteger(ms) && ms >= 1 && ms <= DELAY_MS_MAX) return ms;
  throw new HostsError(`slow-login needs milliseconds from 1 to ${DELAY_MS_MAX}, as in slow-login:2000`);
}
