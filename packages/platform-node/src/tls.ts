/**
 * Encryption of WebSocket links: TLS 1.2 with a pre-shared key (RFC 4279, RFC 5489). No certificate is needed, both
 * ends prove to have the key before a byte of ours is processed, and the key exchange is ephemeral: whoever learns the
 * key later can't read what was recorded before. One cipher and no choice, so that nothing can be talked down.
 * (Node has no call for external keys of TLS 1.3.)
 */

import type { Socket } from 'node:net';
import type { ConnectionOptions, SecureContextOptions, TLSSocket } from 'node:tls';
import { builtin } from './builtin.js';

/** Says nothing of the session; the key is the proof. */
const IDENTITY = 'stci';

function contextOptions(): SecureContextOptions {
  const { SSL_OP_NO_RENEGOTIATION, SSL_OP_NO_TICKET } = builtin('node:crypto').constants;
  return {
    ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    // Renegotiation is work that a peer can order, tickets are keys that outlive the connection.
    secureOptions: SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET,
  };
}

/** Wraps an accepted socket of a listener; the TLS socket emits `secure` once the peer has proved to have the key. */
export function serverTls(key: Uint8Array): (socket: Socket) => TLSSocket {
  const { TLSSocket, createSecureContext } = builtin('node:tls');
  const secureContext = createSecureContext(contextOptions());
  const pskCallback = (_socket: TLSSocket, identity: string): Uint8Array | null => (identity === IDENTITY ? key : null);
  return (socket) => {
    // Its errors are reported by the TLS socket.
    socket.on('error', () => {});
    const options = { isServer: true, secureContext, pskCallback };
    return new TLSSocket(socket, options);
  };
}

/** Options of a connecting end. */
export function clientTls(key: Uint8Array): SecureContextOptions {
  const options: ConnectionOptions = {
    ...contextOptions(),
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
    // There is no certificate, hence no name in one: the key is the identity.
    checkServerIdentity: () => undefined,
  };
  return options;
}
