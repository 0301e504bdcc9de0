/**
 * Encryption of links over sockets: whether, and by which key. `auto` encrypts wherever a listener can be reached from
 * another host: the handshake proves who is at the other end when the link comes up, but only encryption keeps an
 * attacker on the network from reading, changing or taking over what follows. Loopback traffic stays in the kernel.
 */

import type { Params, Secrets } from '@stci/interface';
import { ascii } from './handshake.js';

/** What the key is derived for; no data that a handshake signs begins like this. */
const PURPOSE = 'stci tls 1';

/** 32 bytes for TLS; from them nothing is learnt of the secret that they come from. */
export function linkKey(secrets: Secrets, secret: Uint8Array): Uint8Array {
  return secrets.mac(secret, ascii(PURPOSE));
}

/** Whether a listener by these parameters encrypts. */
export function encryptsLinks(params: Params): boolean {
  const wish = params.string('bootcom.ws.encrypt');
  if (wish !== 'auto') return wish === 'true';
  return !params.list('bootcom.ws.interface').every(isLoopback);
}

/** Errs to the safe side: what is not surely loopback is none. */
function isLoopback(interface_: string): boolean {
  return interface_ === 'lo' || interface_ === '::1' || /^127\.\d+\.\d+\.\d+$/.test(interface_);
}

/** The key for an address of a listener: such an address says itself whether it is wanted. */
export function keyFor(address: string, key: () => Uint8Array): Uint8Array | undefined {
  return address.startsWith('wss:') ? key() : undefined;
}
