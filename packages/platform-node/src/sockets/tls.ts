/**
 * Encryption of links over sockets: TLS 1.2 with a pre-shared key (RFC 4279, RFC 5489). It needs no certificate, both
 * ends prove possession of the key before any of our code handles a byte, and the key exchange is ephemeral: recorded
 * traffic cannot be decrypted with a key that is disclosed later. A single cipher, so that no downgrade is possible.
 * (Node has no call for external keys of TLS 1.3.)
 */

import type { Socket } from 'node:net';
import type { ConnectionOptions, SecureContext, SecureContextOptions, TLSSocket } from 'node:tls';
import { builtin } from '../system/builtin.js';

/** A constant without information; the key is the proof. */
const IDENTITY = 'stci';

let made: SecureContext | undefined;

/** Loads in advance what the first connection needs. */
export function prepareTls(): void {
  context();
}

/** The context of all connections of this process, of both ends: it has no key. */
function context(): SecureContext {
  const { SSL_OP_NO_RENEGOTIATION, SSL_OP_NO_TICKET } = builtin('node:crypto').constants;
  made ??= builtin('node:tls').createSecureContext({
    ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    // Nobody signs anything. By default Node reads all certificates that it has been built with: 20 ms.
    ca: [],
    // Renegotiation lets a peer cause work; tickets are keys that outlive the connection.
    secureOptions: SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET,
  });
  return made;
}

/**
 * Wraps an accepted socket of a listener; the TLS socket emits `secure` once the peer has proved possession of the key.
 */
export function serverTls(key: Uint8Array): (socket: Socket) => TLSSocket {
  const pskCallback = (_socket: TLSSocket, identity: string): Uint8Array | null => (identity === IDENTITY ? key : null);
  return (socket) => {
    // Errors of the socket are reported by the TLS socket.
    socket.on('error', () => {});
    const options = { isServer: true, secureContext: context(), pskCallback };
    return new (builtin('node:tls').TLSSocket)(socket, options);
  };
}

/** TLS options of the connecting end. */
export function clientTls(key: Uint8Array): SecureContextOptions {
  const options: ConnectionOptions = {
    secureContext: context(),
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
    // There is no certificate to check: the key authenticates.
    checkServerIdentity: () => undefined,
  };
  return options;
}
