/**
 * Keys of an overlay. The controller, who can derive every agent's key, makes one for each pair of agents; nobody else
 * gets it but these two, and the agents above them, which pass it on and could act in their names anyway.
 */

import type { MemberId, Params, Secrets } from '@stci/interface';
import { encryptsLinks } from '../bootcom/encryption.js';
import { ascii } from '../bootcom/handshake.js';
import { writeU32 } from '../codec/frame.js';

/** Labels of the derivations; no data that a handshake signs begins with one. */
const PAIR_PURPOSE = ascii('stci overlay 1');
const TLS_PURPOSE = ascii('stci overlay tls 1');

/** 32 bytes, the same whichever comes first; `secret` is the session's. */
export function pairKey(secrets: Secrets, secret: Uint8Array, a: MemberId, b: MemberId): Uint8Array {
  const [low, high] = a.position < b.position ? [a, b] : [b, a];
  const data = new Uint8Array(PAIR_PURPOSE.length + 16);
  data.set(PAIR_PURPOSE);
  [low.position, low.incarnation, high.position, high.incarnation].forEach((value, i) =>
    writeU32(data, PAIR_PURPOSE.length + 4 * i, value));
  return secrets.mac(secret, data);
}

/** Key of the listener of the agent with this key; undefined: it does not encrypt. */
export function overlayTls(secrets: Secrets, secret: Uint8Array, params: Params): Uint8Array | undefined {
  return encryptsLinks(params) ? secrets.mac(secret, TLS_PURPOSE) : undefined;
}
