/**
 * Bytes over TLS with a pre-shared key (tls.ts): what crosses is what the channel carries, without further framing. It
 * needs neither HTTP nor the package ws, which makes it the cheapest socket for an agent that has just started.
 */

import type { Socket } from 'node:net';
import { StciError } from '@stci/interface';
import type { Channel, Listener, ListenOptions } from '@stci/interface';
import { streamChannel } from '../channels/stream-channel.js';
import { builtin } from '../system/builtin.js';
import { peerAddress, socketAddress } from './addresses.js';
import { connecting, notReached, type Done } from './connecting.js';
import { listenAt, tlsServer } from './listening.js';
import { PendingSockets } from './pending-sockets.js';
import { clientTls, prepareTls } from './tls.js';

const ADDRESS = /^tls:\/\/(?:\[([\da-f:.]+)\]|([^:/[\]]+)):(\d{1,5})$/i;

const EXAMPLE = 'an address such as tls://10.77.0.3:40123';
const PORT_MAX = 65_535;

/** Deadline of a peer's proof: hosts on which many agents start are busy. */
const HANDSHAKE_MS = 30_000;

/** Time after the listener is there, ms: some turns of the loop. */
const PREPARE_MS = 2;

function tlsChannel(socket: Socket, label: string): Channel {
  return streamChannel({ kind: 'tls', label, readable: socket, writable: socket });
}

/** Rejects with STCI_LISTEN_FAILED. */
export async function listenTls(options: ListenOptions, accept: (channel: Channel) => void): Promise<Listener> {
  const { key, pendingMax, selectEviction } = options;
  if (key === undefined) throw new StciError('STCI_LISTEN_FAILED', 'Cannot listen for streams without a key.');
  const pending = new PendingSockets(pendingMax, selectEviction, HANDSHAKE_MS);
  const create = () => tlsServer(key, pending, (socket) => {
    pending.release(socket);
    accept(tlsChannel(socket, socketAddress(peerAddress(socket), socket.remotePort ?? 0, 'tls')));
  });
  const listener = await listenAt(options, { pending, scheme: 'tls', create });
  // Whoever is to connect is told the address first.
  setTimeout(prepareTls, PREPARE_MS).unref();
  return listener;
}

/** Throws STCI_LINK_UNREACHABLE if the address is not one of `listenTls`, or the key is missing. */
export function connectTls(address: string, deadlineMs: number, key: Uint8Array | undefined, done: Done): Channel {
  const [, ipv6, host = ipv6, digits] = ADDRESS.exec(address) ?? [];
  const port = Number(digits);
  if (host === undefined || port > PORT_MAX) throw notReached(address, 'unreachable', `expected ${EXAMPLE}`);
  if (key === undefined) throw notReached(address, 'unreachable', 'a tls: address needs a key');
  const socket = builtin('node:tls').connect({ ...clientTls(key), host, port });
  socket.setNoDelay(true);
  const channel = tlsChannel(socket, address);
  return connecting({ channel, socket, established: 'secureConnect', label: address, deadlineMs, done });
}
