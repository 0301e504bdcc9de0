/**
 * Resolves the interfaces to listen on, names and addresses from the user, to addresses to bind. The default is
 * loopback only.
 */

import type { Socket } from 'node:net';
import { StciError } from '@stci/interface';
import { builtin } from '../system/builtin.js';

const LOOPBACK = '127.0.0.1';
const ANY_IPV4 = '0.0.0.0';
const ANY_IPV6 = '::';

export interface InterfaceAddress {
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

const isAny = (wish: string): boolean => wish === ANY_IPV4 || wish === ANY_IPV6;

function addressesOf(wish: string, all: readonly InterfaceAddress[]): string[] {
  if (isAny(wish)) {
    const family = wish === ANY_IPV4 ? 'IPv4' : 'IPv6';
    return all.filter((entry) => entry.family === family).map((entry) => entry.address);
  }
  // Node compiles an expression for IPv6 at its first use, 3 ms: an address of this machine needs none.
  if (all.some(({ address }) => address === wish) || builtin('node:net').isIP(wish) !== 0) return [wish];
  return all.filter((entry) => entry.name === wish).map((entry) => entry.address);
}

/** A server to be made. */
export interface Binding {
  /** Undefined: all addresses of the machine, of both families if it has both. */
  readonly host: string | undefined;
  /** At which it can be reached. */
  readonly addresses: readonly string[];
}

/** Both families are wished: one server for all, without a look-up of each address. */
export function bindings(interfaces: readonly string[]): Binding[] {
  const addresses = listenAddresses(interfaces);
  if (interfaces.includes(ANY_IPV4) && interfaces.includes(ANY_IPV6)) return [{ host: undefined, addresses }];
  return addresses.map((address) => ({ host: address, addresses: [address] }));
}

/** `given`: those of the machine, for tests. Throws STCI_LISTEN_FAILED if a name is no interface of this machine. */
export function listenAddresses(interfaces: readonly string[], given?: readonly InterfaceAddress[]): string[] {
  if (interfaces.length === 0) return [LOOPBACK];
  const all = given ?? machineAddresses();
  const found = interfaces.map((wish) => addressesOf(wish, all));
  const result = new Set(found.flat());
  // A host need not have addresses of both families.
  const missing = interfaces.find((wish, i) => found[i]?.length === 0 && !(isAny(wish) && result.size > 0));
  if (missing === undefined) return [...result];
  const names = [...new Set(all.map((entry) => entry.name))].join(', ');
  throw new StciError(
    'STCI_LISTEN_FAILED',
    `Cannot listen on '${missing}': expected an address or the name of one of this host's interfaces (${names}).`,
  );
}

export type Scheme = 'ws' | 'wss' | 'tls';

/** Address of a peer; one of IPv4 as such, to whatever it has connected. */
export function peerAddress({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? 'unknown';
}

/** `ws://127.0.0.1:4000`, `wss://[::1]:4000`. */
export function socketAddress(address: string, port: number, scheme: Scheme): string {
  return address.includes(':') ? `${scheme}://[${address}]:${port}` : `${scheme}://${address}:${port}`;
}
