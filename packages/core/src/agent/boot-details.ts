/**
 * Boot details: the part of a boot record that an agent reads once its link is up: its place in the boot tree,
 * the hosts at and below it, parameters.
 */

import type { HostIndex, HostSpec } from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { any, bytes, fields, integer, list, optional, plain, str, tuple, u32 } from '../codec/shape.js';
import { TOPOLOGY_SIZE_MAX } from '../topology/options.js';
import type { ParamSnapshot } from './composition.js';

/** Host name (empty: the host is left out), user (empty: none), incarnation of its agent. */
export type HostLogin = readonly [string, string, number];

export interface BootDetails {
  readonly host: HostIndex;
  /** All hosts of the allocation. */
  readonly hosts: number;
  readonly arity: number;
  /** The hosts at and below this agent, in pre-order of the boot tree. */
  readonly subtree: readonly HostLogin[];
  /** Addresses to connect to for the boot link, best first; empty for a native link. */
  readonly connect: readonly string[];
  /** Key of the encryption of that link; absent: none. */
  readonly connectKey?: Uint8Array;
  /** Encoded once for all agents and forwarded unchanged. */
  readonly params: Uint8Array;
}

/** Positions of a boot tree: its hosts and the controller. */
const HOSTS_MAX = TOPOLOGY_SIZE_MAX - 1;

const shape = fields({
  host: integer(0, HOSTS_MAX - 1),
  hosts: integer(1, HOSTS_MAX),
  arity: integer(1, HOSTS_MAX),
  subtree: list(tuple(str, str, u32)),
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
  return details;
}

export function encodeParams(snapshot: ParamSnapshot): Uint8Array {
  return encode(snapshot);
}

/** Throws STCI_CODEC_INVALID or STCI_MESSAGE_INVALID; the parameters' values are checked later, by their catalogue. */
export function decodeParams(encoded: Uint8Array): ParamSnapshot {
  return plain<ParamSnapshot>()(any(decode(encoded), 'parameters'), 'parameters');
}

export function hostSpec(entry: HostLogin, host: HostIndex): HostSpec {
  const [name, user] = entry;
  const origin = `host ${host} of the job`;
  return { name, slots: 1, slotsBound: false, origin, ...(user !== '' && { user }) };
}
