/**
 * Keys of agents: each agent has a key of its own, derived from that of the agent above it in the planned boot tree;
 * the controller's is the session's secret. An agent can derive the keys of all agents below it, which it may have to
 * start or to link to, and of no other: one that is taken over can act in the name of those below it at most.
 */

import { type Address, type JobId, type Secrets } from '@stci/interface';
import { writeU32 } from '../codec/frame.js';
import { ascii } from './handshake.js';

/** 32 bytes derived from the key `above`. No data that a handshake signs begins with a label. */
export function derivedKey(secrets: Secrets, above: Uint8Array, label: string, ...numbers: number[]): Uint8Array {
  const purpose = ascii(label);
  const data = new Uint8Array(purpose.length + 4 * numbers.length);
  data.set(purpose);
  numbers.forEach((number, i) => writeU32(data, purpose.length + 4 * i, number));
  return secrets.mac(above, data);
}

const TOKEN_BYTES = 8;

/** A text that nobody can guess who has not the session's secret: of a job. */
export function jobToken(secrets: Secrets, secret: Uint8Array, job: JobId): string {
  const key = derivedKey(secrets, secret, 'stci job 1', job);
  return Array.from(key.subarray(0, TOKEN_BYTES), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The key of the agent (`address`, `job`); `above`: the key of the agent that it is planned below. */
export function agentSecret(secrets: Secrets, above: Uint8Array, address: Address, job: JobId): Uint8Array {
  return derivedKey(secrets, above, 'stci agent 1', address, job);
}
