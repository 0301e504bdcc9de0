/**
 * Boot details: the part of a boot record that an agent reads once its link is up: its place in the boot tree,
 * the hosts at and below it, parameters.
 */

import type { HostIndex, HostSpec } from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { any, fields, list, plain, str, tuple, u32 } from '../codec/shape.js';
import type { ParamSnapshot } from './composition.js';

export interface BootDetails {
  readonly host: HostIndex;
  /** All hosts of the allocation. */
  readonly hosts: number;
  readonly arity: number;
  /** Name (empty: left out) and login (empty: none) of the hosts at and below this, in pre-order of the boot tree. */
  readonly subtree: readonly (readonly [string, string])[];
  /** Where to connect for the boot link, best first; empty for a native link. */
  readonly connect: readonly string[];
  readonly params: ParamSnapshot;
}

const shape = fields({
  host: u32,
  hosts: u32,
  arity: u32,
  subtree: list(tuple(str, str)),
  connect: list(str),
  params: plain<ParamSnapshot>(),
});

export function encodeBootDetails(details: BootDetails): Uint8Array {
  return encode(details);
}

/** Throws STCI_CODEC_INVALID or STCI_MESSAGE_INVALID. */
export function decodeBootDetails(bytes: Uint8Array): BootDetails {
  return shape(any(decode(bytes), 'boot details'), 'boot details');
}

export function hostSpec(entry: readonly [string, string], host: HostIndex): HostSpec {
  const [name, user] = entry;
  const origin = `host ${host} of the job`;
  return { name, slots: 1, slotsBound: false, origin, ...(user !== '' && { user }) };
}
