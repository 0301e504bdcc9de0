/**
 * Keys of an overlay. The controller, who can derive every agent's key, makes one for each pair of agents; nobody else
 * gets it but these two, and the agents above them, which pass it on and could act in their names anyway.
 */

import type { MemberId, Params, Secrets } from '@stci/interface';
import { derivedKey } from '../bootcom/agent-key.js';
import { encryptsLinks } from '../bootcom/encryption.js';

/** 32 bytes, the same whichever comes first; `secret` is the session's. */
export function pairKey(secrets: Secrets, secret: Uint8Array, a: MemberId, b: MemberId): Uint8Array {
  const [low, high] = a.position < b.position ? [a, b] : [b, a];
  const both = [low.position, low.incarnation, high.position, high.incarnation];
  return derivedKey(secrets, secret, 'stci overlay 1', ...both);
}

/** Key of the listener of the agent with this key; undefined: it does not encrypt. */
export function overlayTls(secrets: Secrets, secret: Uint8Array, params: Params): Uint8Array | undefined {
  return encryptsLinks(params) ? derivedKey(secrets, secret, 'stci overlay tls 1') : undefined;
}
