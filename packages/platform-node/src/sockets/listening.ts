/**
 * What all listeners on TCP sockets share: one server per address, ports from a range, TLS before anything else is
 * read.
 */

import type { AddressInfo, Server } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { StciError } from '@stci/interface';
import type { Listener, ListenOptions } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { errnoOf } from '../system/program.js';
import { bindings, peerAddress, socketAddress, type Scheme } from './addresses.js';
import type { PendingSockets } from './pending-sockets.js';
import { serverTls } from './tls.js';

export interface Place {
  readonly pending: PendingSockets;
  readonly scheme: Scheme;
  /** End of each address. */
  readonly path?: string;
  /** A server that does not listen yet; its sockets are in `pending` until they are channels. */
  create(): Server;
}

/** Listens at all addresses or none; rejects with STCI_LISTEN_FAILED. */
export async function listenAt(options: ListenOptions, place: Place): Promise<Listener> {
  const { pending, scheme, path = '' } = place;
  const servers: Server[] = [];
  const close = (): void => {
    for (const server of servers) server.close();
    pending.clear();
  };
  try {
    const addresses: string[] = [];
    for (const { host, addresses: those } of bindings(options.interfaces)) {
      const server = place.create();
      const port = await bindInRange(server, host, options.ports ?? [0, 0], scheme);
      servers.push(server);
      addresses.push(...those.map((address) => `${socketAddress(address, port, scheme)}${path}`));
    }
    return { addresses, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function bindInRange(
  server: Server,
  host: string | undefined,
  ports: readonly [number, number],
  scheme: Scheme,
): Promise<number> {
  for (let port = ports[0]; ; port++) {
    try {
      return await bind(server, host, port);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'EADDRINUSE' && port < ports[1]) continue;
      const isOne = ports[0] === ports[1];
      const what = host ?? '*';
      const where = isOne ? socketAddress(what, port, scheme) : `${what}, ports ${ports[0]}-${ports[1]}`;
      const why = errno === 'EADDRINUSE' ? 'no port is free' : (error as Error).message;
      throw new StciError('STCI_LISTEN_FAILED', `Cannot listen on ${where}: ${why}.`, { cause: error });
    }
  }
}

function bind(server: Server, host: string | undefined, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...(host !== undefined && { host }), port, exclusive: true }, () => {
      server.removeListener('error', reject);
      // Later errors (no descriptor left for the next connection) do not affect the listener.
      server.on('error', () => {});
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** A server of `pending` sockets; `secured` gets those whose peers have proved possession of the key. */
export function tlsServer(key: Uint8Array, pending: PendingSockets, secured: (socket: TLSSocket) => void): Server {
  const secure = serverTls(key);
  return builtin('node:net').createServer({ noDelay: true }, (raw) => {
    const socket = secure(raw);
    pending.add(socket, peerAddress(raw));
    socket.once('secure', () => {
      pending.advance(socket);
      secured(socket);
    });
  });
}
