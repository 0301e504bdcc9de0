/**
 * Resolves the interfaces to listen on, names and addresses from the user, to addresses to bind. The default is
 * loopback only.
 */

import { StciError } from '@stci/interface';
import { builtin } from './builtin.js';

const LOOPBACK = '127.0.0.1';
const ANY_IPV4 = '0.0.0.0';
const ANY_IPV6 = '::';

interface InterfaceAddress {
  readonly name: string;
  readonly address: string;
  readonly family: string;
  readonly internal: boolean;
}

/** All usable addresses: those that other hosts can reach before loopback, IPv4 before IPv6. */
function machineAddresses(): InterfaceAddress[] {
  const all: InterfaceAddress[] = [];
  for (const [name, entries] of Object.entries(builtin('node:os').networkInterfaces())) {
    // A link-local address is only valid with the name of an interface.
    for (const entry of entries ?? []) if (!entry.address.startsWith('fe80:')) all.push({ name, ...entry });
  }
  const order = (entry: InterfaceAddress): number => (entry.internal ? 2 : 0) + (entry.family === 'IPv6' ? 1 : 0);
  return all.sort((a, b) => order(a) - order(b));
}

function addressesOf(wish: string, all: readonly InterfaceAddress[]): string[] {
  if (wish === ANY_IPV4 || wish === ANY_IPV6) {
    const family = wish === ANY_IPV4 ? 'IPv4' : 'IPv6';
    return all.filter((entry) => entry.family === family).map((entry) => entry.address);
  }
  if (builtin('node:net').isIP(wish) !== 0) return [wish];
  return all.filter((entry) => entry.name === wish).map((entry) => entry.address);
}

/** Throws STCI_LISTEN_FAILED if a name is no interface of this machine. */
export function listenAddresses(interfaces: readonly string[]): string[] {
  if (interfaces.length === 0) return [LOOPBACK];
  const all = machineAddresses();
  const result = new Set<string>();
  for (const wish of interfaces) {
    const found = addressesOf(wish, all);
    if (found.length === 0) {
      const names = [...new Set(all.map((entry) => entry.name))].join(', ');
      throw new StciError(
        'STCI_LISTEN_FAILED',
        `Cannot listen on '${wish}': expected an address or the name of one of this host's interfaces (${names}).`,
      );
    }
    for (const address of found) result.add(address);
  }
  return [...result];
}

/** `ws://127.0.0.1:4000`, `wss://[::1]:4000`. */
export function socketAddress(address: string, port: number, scheme: 'ws' | 'wss' = 'ws'): string {
  return address.includes(':') ? `${scheme}://[${address}]:${port}` : `${scheme}://${address}:${port}`;
}
