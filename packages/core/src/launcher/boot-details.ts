/**
 * Boot details: the part of a boot record that an agent reads once its link is up: its place in the boot tree,
 * the hosts at and below it, parameters.
 */

import { StciError, bootPosition, type ArityPlan, type HostIndex } from '@stci/interface';
import type { ParamSnapshot } from '@stci/registry';
import { BODY_BYTES_MAX, MEMBERS_MAX, members } from '../codec/bounds.js';
import { decode, encode } from '../codec/cbor.js';
import { bool, bytes, check, fields, integer, list, optional, plain, u32, type Infer } from '../codec/shape.js';
import { TOPOLOGY_SIZE_MAX } from '../topology/options.js';
import { shortestCycle } from './boot-plan.js';
import { KEY_BYTES, addresses, hostLogin, type HostLogin } from './host-login.js';
import { ParentTree, type BootTreePart, type ParentsPart } from './parent-tree.js';

/** Positions of a boot tree: its hosts and the controller. */
export const HOSTS_MAX = TOPOLOGY_SIZE_MAX - 1;

export const bootDetails = fields({
  host: integer(0, HOSTS_MAX - 1),
  /** Number of all hosts of the session. */
  hosts: integer(1, HOSTS_MAX),
  tree: fields({
    arity: optional(integer(1, HOSTS_MAX)), planned: optional(integer(1, HOSTS_MAX)),
    parents: optional(list(u32, 2 * MEMBERS_MAX)),
  }),
  /** This agent's host, then those below it that it and the agents below it start. */
  subtree: members(hostLogin),
  /** The agent may be linked to another parent if it loses its own. */
  outlivesParent: bool,
  /** Addresses to connect to for the boot link, best first; empty for a native link. */
  connect: addresses,
  /** Key of the encryption of that link; absent: none. */
  connectKey: optional(bytes(KEY_BYTES)),
  /** Encoded once for all agents and forwarded unchanged. */
  params: bytes(BODY_BYTES_MAX),
});

/** With what the agent needs of the boot tree. */
export interface BootDetails extends Omit<Infer<typeof bootDetails>, 'tree'> {
  readonly tree: BootTreePart;
}

export function encodeBootDetails(details: BootDetails): Uint8Array {
  return encode(details);
}

/** Throws STCI_CODEC_INVALID or STCI_MESSAGE_INVALID. */
export function decodeBootDetails(encoded: Uint8Array): BootDetails {
  const details = check(bootDetails, decode(encoded), 'boot details');
  const { host, hosts, subtree } = details;
  const tree = partOf(details.tree, hosts);
  check(integer(0, hosts - 1), host, 'boot details.host');
  // In the k-ary tree, hosts below have higher indices.
  const first = 'arity' in tree ? host : 0;
  check(integer(1, hosts - first), subtree.length, 'boot details.subtree.length');
  for (const [at] of subtree) check(integer(first, hosts - 1), at, 'boot details.subtree');
  check(integer(host, host), subtree[0]?.[0], 'boot details.subtree[0]');
  if (!('arity' in tree)) checkBelow(new ParentTree(hosts + 1, tree), host, subtree);
  return { ...details, tree };
}

/** Part of two kinds: `arity` alone, or `planned` and `parents`, each host once, without a cycle. */
function partOf(found: Partial<ArityPlan & ParentsPart>, hosts: number): BootTreePart {
  const { arity, planned, parents } = found;
  if (arity !== undefined) return { arity };
  if (planned === undefined || parents === undefined) {
    throw new StciError('STCI_MESSAGE_INVALID', 'Expected an arity or the parents of hosts at boot details.tree');
  }
  check(integer(1, hosts), planned, 'boot details.tree.planned');
  for (const host of parents) check(integer(0, planned - 1), host, 'boot details.tree.parents');
  const known = new Map<HostIndex, HostIndex>();
  for (let at = 0; at + 1 < parents.length; at += 2) known.set(parents[at]!, parents[at + 1]!);
  check(integer(2 * known.size, 2 * known.size), parents.length, 'boot details.tree.parents.length');
  if (shortestCycle(known) === undefined) return { planned, parents };
  throw new StciError('STCI_MESSAGE_INVALID', 'Expected no cycle at boot details.tree.parents');
}

function checkBelow(tree: ParentTree, host: HostIndex, subtree: readonly HostLogin[]): void {
  const stranger = subtree.find(([at]) => at !== host && !tree.isAncestor(bootPosition(host), bootPosition(at)));
  if (stranger === undefined) return;
  const text = `Expected hosts at and below ${host} at boot details.subtree, got ${stranger[0]}`;
  throw new StciError('STCI_MESSAGE_INVALID', text);
}

export function encodeParams(snapshot: ParamSnapshot): Uint8Array {
  return encode(snapshot);
}

/** Throws STCI_CODEC_INVALID or STCI_MESSAGE_INVALID; the parameters' values are checked later, by their catalogue. */
export function decodeParams(encoded: Uint8Array): ParamSnapshot {
  return check(plain<ParamSnapshot>(BODY_BYTES_MAX), decode(encoded), 'parameters');
}
