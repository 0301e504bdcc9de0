/** A host as boot details and orders to start it name it. */

import { StciError, type AgentPlace, type HostIndex, type HostSpec } from '@stci/interface';
import { bytes, fields, list, str, u32, tuple, type Shape } from '../codec/shape.js';

/** Bytes of AgentPlace.key. */
const KEY_BYTES = 32;

/** Addresses at which one agent may wait. */
const ADDRESSES_MAX = 64;

/**
 * What came of the start of a host's agent with all others: where it waits, or why it does not. Only for the hosts with
 * which a session begins, and once: what is started again has none.
 */
export type HostStart = AgentPlace | { readonly reason: string };

/** A host and its name, user (empty: none), incarnation of its agent, start together with others. */
export type HostLogin = readonly [HostIndex, string, string, number, HostStart?];

const place = fields({ addresses: list(str), key: bytes });
const failure = fields({ reason: str });

const hostStart: Shape<HostStart> = (value, path) => {
  if (typeof value === 'object' && value !== null && 'reason' in value) return failure(value, path);
  const { addresses, key } = place(value, path);
  if (key.length === KEY_BYTES && addresses.length > 0 && addresses.length <= ADDRESSES_MAX) return { addresses, key };
  const expected = `1 to ${ADDRESSES_MAX} addresses and a key of ${KEY_BYTES} bytes`;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${expected} at ${path}`);
};

const plainLogin = tuple(u32, str, str, u32);
const startedLogin = tuple(u32, str, str, u32, hostStart);

export const hostLogin: Shape<HostLogin> = (value, path) =>
  Array.isArray(value) && value.length > 4 ? startedLogin(value, path) : plainLogin(value, path);

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
