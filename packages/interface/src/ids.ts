/**
 * Identities. An agent's address is one unsigned 32-bit number, so that it fits a frame header and the key of a routing
 * table: the upper four bits are the kind, the lower 28 bits the index. Root agent 3 and session agent 3 are on host 3.
 */

/** Index of a host in the allocation, 0 ≤ host < 2^28. */
export type HostIndex = number;

/** Rank of a tool in its job, 0 ≤ rank < size. */
export type Rank = number;

/** Number of a job in its session, 1 ≤ job ≤ JOB_MAX. 0 means "no job". */
export type JobId = number;

/** Largest number of a job: an address and a job together are a safe integer, see `agentKey`. */
export const JOB_MAX = 2 ** 21 - 1;

export type AgentKind = 'controller' | 'front-end' | 'root' | 'session' | 'tool';

/** An agent's address: kind in bits 31..28, index in bits 27..0. */
export type Address = number & { readonly __brand?: 'Address' };

const KINDS: readonly AgentKind[] = ['controller', 'front-end', 'root', 'session', 'tool'];

const SESSION_KIND = KINDS.indexOf('session');

/** Largest index that an address can carry, inclusive. */
const ADDRESS_INDEX_MAX = 0x0fff_ffff;

/** Destination of a frame for the agent at the other end of the link. */
export const NEIGHBOUR: Address = 0xffff_ffff;

function makeAddress(kind: AgentKind, index: number): Address {
  if (!Number.isInteger(index) || index < 0 || index > ADDRESS_INDEX_MAX) {
    throw new RangeError(`Expected an agent index in 0..${ADDRESS_INDEX_MAX}, got ${index}`);
  }
  return (KINDS.indexOf(kind) * 0x1000_0000 + index) >>> 0;
}

export const CONTROLLER: Address = makeAddress('controller', 0);

/** Front-end 0 is in the controller's process. */
export function frontEndAddress(index: number): Address {
  return makeAddress('front-end', index);
}

export const FRONT_END: Address = frontEndAddress(0);

export function rootAddress(host: HostIndex): Address {
  return makeAddress('root', host);
}

export function sessionAddress(host: HostIndex): Address {
  return makeAddress('session', host);
}

export function isSessionAddress(address: Address): boolean {
  return address >>> 28 === SESSION_KIND;
}

/** The kind of agent in an address; undefined if its upper bits are no kind. */
export function addressKind(address: Address): AgentKind | undefined {
  return KINDS[address >>> 28];
}

export function addressIndex(address: Address): number {
  return address & ADDRESS_INDEX_MAX;
}

/**
 * Key of an agent: its address and, of a session agent, its job. For other agents a job only says what a message is
 * about.
 */
export function agentKey(address: Address, job: JobId): number {
  return address * (JOB_MAX + 1) + (isSessionAddress(address) ? job : 0);
}

/** `root:3`, `controller`, `front-end`, `front-end:1`: for logs and messages. */
export function addressName(address: Address): string {
  if (address === NEIGHBOUR) return 'neighbour';
  const kind = addressKind(address);
  if (kind === undefined) return `unknown:${address.toString(16)}`;
  return address === CONTROLLER || address === FRONT_END ? kind : `${kind}:${addressIndex(address)}`;
}

/** As `addressName`, and of a session agent its job: `session:3 of job 2`. */
export function agentName(address: Address, job: JobId): string {
  return isSessionAddress(address) && job !== 0 ? `${addressName(address)} of job ${job}` : addressName(address);
}
