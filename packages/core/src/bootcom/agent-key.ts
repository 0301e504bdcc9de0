/**
 * Keys of agents: each agent has a key of its own, derived from that of the agent above it in the planned boot tree;
 * the controller's is the session's secret. An agent can derive the keys of all agents below it, which it may have to
 * start or to link to, and of no other: one that is taken over can act in the name of those below it at most.
 */

import { type Address, type JobId, type Secrets } from '@stci/interface';
import { writeU32 } from '../codec/frame.js';
import { ascii } from './handshake.js';

/** Label of the derivation; no data that a handshake signs begins with it. */
const PURPOSE = ascii('stci agent 1');

/** The 32-byte key of the agent (`address`, `job`); `above`: the key of the agent that it is planned below. */
export function agentSecret(secrets: Secrets, above: Uint8Array, address: Address, job: JobId): Uint8Array {
  const data = new Uint8Array(PURPOSE.length + 8);
  data.set(PURPOSE);
  writeU32(data, PURPOSE.length, address);
  writeU32(data, PURPOSE.length + 4, job);
  return secrets.mac(above, data);
}
