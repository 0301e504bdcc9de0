/**
 * Key exchanges with which launches are measured, the same for all launchers: they all use the OpenSSH client of the
 * test hosts. The default of OpenSSH 9, sntrup761, takes most of a client's processor time.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `key`: its name in bench/costs.json; `algorithms` undefined: the client's default. */
export const KEY_EXCHANGES = [
  { key: 'default', name: 'OpenSSH\'s default key exchange', algorithms: undefined },
  { key: 'curve25519', name: 'KexAlgorithms=curve25519-sha256', algorithms: 'curve25519-sha256' },
];

/** Configures it for the clients of `hosts`, on the login side and on the hosts. */
export function useKeyExchange(hosts, { algorithms }) {
  for (const home of [hosts.loginHome, hosts.home]) {
    const path = join(home, '.ssh/config');
    const others = readFileSync(path, 'utf8').split('\n').filter((line) => !line.startsWith('KexAlgorithms'));
    const ours = algorithms === undefined ? [] : [`KexAlgorithms ${algorithms}`];
    // At the top: lines before any Host line apply to all hosts, and the first value counts.
    writeFileSync(path, [...ours, ...others].join('\n'));
  }
}
