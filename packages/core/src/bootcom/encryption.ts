/**
 * Encryption of links over sockets: whether, and with which key. `auto` encrypts if the listener is reachable from
 * another host: the handshake authenticates the peer once, but only encryption prevents an attacker on the network from
 * reading or changing what follows, or from taking the link over. Loopback traffic stays in the kernel.
 */

import type { Params, Secrets } from '@stci/interface';
import { derivedKey } from './agent-key.js';

/** Derives the 32-byte TLS key of an agent's listener from its own; it discloses nothing of that. */
export function linkKey(secrets: Secrets, secret: Uint8Array): Uint8Array {
  return derivedKey(secrets, secret, 'stci tls 1');
}

/**
 * As `linkKey`, of the listener at which the agent waits for another parent. Those above it can derive it; those below,
 * who have the other one, cannot.
 */
export function adoptionKey(secrets: Secrets, secret: Uint8Array): Uint8Array {
  return derivedKey(secrets, secret, 'stci adoption 1');
}

/** Whether a listener with these parameters encrypts. */
export function encryptsLinks(params: Params): boolean {
  const wish = params.string('bootcom.ws.encrypt');
  if (wish !== 'auto') return wish === 'true';
  return !params.list('bootcom.ws.interface').every(isLoopback);
}

/** What is not certainly loopback counts as not loopback. */
function isLoopback(interface_: string): boolean {
  return interface_ === 'lo' || interface_ === '::1' || /^127\.\d+\.\d+\.\d+$/.test(interface_);
}

/** The key for an address of a listener; the address itself says whether one is needed. */
export function keyFor(address: string, key: Uint8Array | undefined): Uint8Array | undefined {
  return address.startsWith('wss:') ? key : undefined;
}
