/** A host as boot details and orders to start it name it. */

import type { AgentPlace, HostIndex, HostSpec } from '@stci/interface';
import { name, text } from '../codec/bounds.js';
import {
  bool, bytes, choice, fields, list, narrowed, optional, str, u32, tuple, type Infer, type Shape,
} from '../codec/shape.js';

/** Bytes of AgentPlace.key. */
export const KEY_BYTES = 32;

/** Addresses at which one agent may wait, or listen. */
export const ADDRESSES_MAX = 64;

/** Characters of an address: a name of a host has at most 253. */
const ADDRESS_CHARS_MAX = 300;

export const addresses = list(str(ADDRESS_CHARS_MAX), ADDRESSES_MAX);

/** Where an agent waits for another parent, as `joinAddresses` makes it, or a path. */
export const socket = str(ADDRESSES_MAX * (ADDRESS_CHARS_MAX + 1));

const SAMPLE = { addresses: ['tls://h:1'], key: new Uint8Array(KEY_BYTES) };
const place = narrowed(fields({ addresses, key: bytes(KEY_BYTES), orStart: optional(bool) }), placeFault, {
  good: [{ ...SAMPLE, orStart: true }, SAMPLE],
  bad: [{ ...SAMPLE, addresses: [] }, { ...SAMPLE, addresses: ['h:1'] }, { ...SAMPLE, key: new Uint8Array(1) }],
});
const failure = fields({ reason: text });

/**
 * What came of the start of a host's agent with all others: where it waits, or why it does not. Only for the hosts with
 * which a session begins: what is started again has none, unless it may still wait there. Then, `orStart`, it is
 * reached, and started only if it is not.
 */
const hostStart = choice([place, failure], (value) =>
  typeof value === 'object' && value !== null && 'reason' in value ? failure : place);
export type HostStart = Infer<typeof hostStart>;

/** Why that is no place; undefined: it is one. What an agent says before it has proved who it is comes from outside. */
export function placeFault({ addresses, key }: AgentPlace): string | undefined {
  const { length } = addresses;
  if (length === 0 || length > ADDRESSES_MAX) return `expected 1 to ${ADDRESSES_MAX} addresses, got ${length}`;
  const isBad = (address: string): boolean => !address.startsWith('tls://') || address.length > ADDRESS_CHARS_MAX;
  const bad = addresses.find(isBad);
  if (bad !== undefined) return `expected addresses tls://…, got ${JSON.stringify(bad.slice(0, ADDRESS_CHARS_MAX))}`;
  return key.length === KEY_BYTES ? undefined : `expected a key of ${KEY_BYTES} bytes, got ${key.length}`;
}

/** A host and its name, user (empty: none), incarnation of its agent, start together with others. */
const plainLogin = tuple(u32, name, name, u32);
const startedLogin = tuple(u32, name, name, u32, hostStart);
export type HostLogin = readonly [...Infer<typeof plainLogin>, HostStart?];

export const hostLogin: Shape<HostLogin> = choice([plainLogin, startedLogin], (value) =>
  Array.isArray(value) && value.length > 4 ? startedLogin : plainLogin);

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
