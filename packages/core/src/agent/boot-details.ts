/**
 * Boot details: the part of a boot record that an agent reads once its link is up: its place in the boot tree,
 * the hosts at and below it, parameters.
 */

import type { HostIndex, HostSpec } from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { any, bool, bytes, fields, integer, list, optional, plain, str, tuple, u32 } from '../codec/shape.js';
import { TOPOLOGY_SIZE_MAX } from '../topology/options.js';
import type { ParamSnapshot } from './composition.js';

/** A host and its name, user (empty: none), incarnation of its agent. */
export type HostLogin = readonly [HostIndex, string, string, number];

export interface BootDetails {
  readonly host: HostIndex;
  /** Number of all hosts of the session. */
  readonly hosts: number;
  readonly arity: number;
  /** This agent's host, then those below it that it and the agents below it start. */
  readonly subtree: readonly HostLogin[];
  /** It may be linked to another parent if it loses its own. */
  readonly outlivesParent: boolean;
  /** Addresses to connect to for the boot link, best first; empty for a native link. */
  readonly connect: readonly string[];
  /** Key of the encryption of that link; absent: none. */
  readonly connectKey?: Uint8Array;
  /** Encoded once for all agents and forwarded unchanged. */
  readonly params: Uint8Array;
}

/** Positions of a boot tree: its hosts and the controller. */
export const HOSTS_MAX = TOPOLOGY_SIZE_MAX - 1;

const shape = fields({
  host: integer(0, HOSTS_MAX - 1),
  hosts: integer(1, HOSTS_MAX),
  arity: integer(1, HOSTS_MAX),
  subtree: list(tuple(u32, str, str, u32)),
  outlivesParent: bool,
  connect: list(str),
  connectKey: optional(bytes),
  params: bytes,
});

export function encodeBootDetails(details: BootDetails): Uint8Array {
  return encode(details);
}

/** Throws STCI_CODEC_INVALID or STCI_MESSAGE_INVALID. */
export function decodeBootDetails(encoded: Uint8Array): BootDetails {
  const details = shape(any(decode(encoded), 'boot details'), 'boot details');
  const { host, hosts, subtree } = details;
  integer(0, hosts - 1)(host, 'boot details.host');
  integer(1, hosts - host)(subtree.length, 'boot details.subtree.length');
  for (const [at] of subtree) integer(host, hosts - 1)(at, 'boot details.subtree');
  integer(host, host)(subtree[0]?.[0], 'boot details.subtree[0]');
  return details;
}

export function encodeParams(snapshot: ParamSnapshot): Uint8Array {
  return encode(snapshot);
}

/** Throws STCI_CODEC_INVALID or STCI_MESSAGE_INVALID; the parameters' values are checked later, by their catalogue. */
export function decodeParams(encoded: Uint8Array): ParamSnapshot {
  return plain<ParamSnapshot>()(any(decode(encoded), 'parameters'), 'parameters');
}

export function hostSpec([host, name, user]: HostLogin): HostSpec {
  const origin = `host ${host} of the job`;
  return { name, slots: 1, slotsBound: false, origin, ...(user !== '' && { user }) };
}
