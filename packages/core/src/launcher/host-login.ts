/** A host as boot details and orders to start it name it. */

import { StciError, type AgentPlace, type HostIndex, type HostSpec } from '@stci/interface';
import { name, text } from '../codec/bounds.js';
import { bool, bytes, fields, list, optional, shape, str, u32, tuple, type Shape } from '../codec/shape.js';

/** Bytes of AgentPlace.key. */
export const KEY_BYTES = 32;

/** Addresses at which one agent may wait, or listen. */
export const ADDRESSES_MAX = 64;

/** Characters of an address: a name of a host has at most 253. */
const ADDRESS_CHARS_MAX = 300;

/**
 * What came of the start of a host's agent with all others: where it waits, or why it does not. Only for the hosts with
 * which a session begins: what is started again has none, unless it may still wait there. Then, `orStart`, it is
 * reached, and started only if it is not.
 */
export type HostStart = (AgentPlace & { readonly orStart?: boolean }) | { readonly reason: string };

/** A host and its name, user (empty: none), incarnation of its agent, start together with others. */
export type HostLogin = readonly [HostIndex, string, string, number, HostStart?];

export const addresses = list(str(ADDRESS_CHARS_MAX), ADDRESSES_MAX);

/** Where an agent waits for another parent, as `joinAddresses` makes it, or a path. */
export const socket = str(ADDRESSES_MAX * (ADDRESS_CHARS_MAX + 1));

const place = fields({ addresses, key: bytes(KEY_BYTES), orStart: optional(bool) });
const failure = fields({ reason: text });

const hostStart: Shape<HostStart> = shape(Math.max(place.bytesMax, failure.bytesMax), (value, path) => {
  if (typeof value === 'object' && value !== null && 'reason' in value) return failure(value, path);
  const { addresses, key, orStart } = place(value, path);
  const fault = placeFault({ addresses, key });
  if (fault === undefined) return { addresses, key, ...(orStart !== undefined && { orStart }) };
  throw new StciError('STCI_MESSAGE_INVALID', `${fault}, at ${path}`);
});

/** Why that is no place; undefined: it is one. What an agent says before it has proved who it is comes from outside. */
export function placeFault({ addresses, key }: AgentPlace): string | undefined {
  const { length } = addresses;
  if (length === 0 || length > ADDRESSES_MAX) return `expected 1 to ${ADDRESSES_MAX} addresses, got ${length}`;
  const isBad = (address: string): boolean => !address.startsWith('tls://') || address.length > ADDRESS_CHARS_MAX;
  const bad = addresses.find(isBad);
  if (bad !== undefined) return `expected addresses tls://…, got ${JSON.stringify(bad.slice(0, ADDRESS_CHARS_MAX))}`;
  return key.length === KEY_BYTES ? undefined : `expected a key of ${KEY_BYTES} bytes, got ${key.length}`;
}

const plainLogin = tuple(u32, name, name, u32);
const startedLogin = tuple(u32, name, name, u32, hostStart);

export const hostLogin: Shape<HostLogin> = shape(startedLogin.bytesMax, (value, path) =>
  Array.isArray(value) && value.length > 4 ? startedLogin(value, path) : plainLogin(value, path));

export function newLogin(host: HostIndex, spec: HostSpec, incarnation: number, start?: HostStart): HostLogin {
  const { name, user = '' } = spec;
  return start === undefined ? [host, name, user, incarnation] : [host, name, user, incarnation, start];
}

export function hostSpec([host, name, user]: HostLogin): HostSpec {
  const origin = `host ${host} of the job`;
  return { name, slots: 1, slotsBound: false, origin, ...(user !== '' && { user }) };
}

/** Where an agent waits for another parent, as `agent.up` has it: a path, or the addresses of a listener. */
export function joinAddresses(addresses: readonly string[]): string {
  return addresses.slice(0, ADDRESSES_MAX).join(' ');
}

/** Empty for a path. */
export function listenerAddresses(socket: string): readonly string[] {
  return socket.startsWith('tls:') ? socket.split(' ', ADDRESSES_MAX) : [];
}
