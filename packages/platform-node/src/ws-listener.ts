/**
 * Listeners for WebSockets, one server per address. Input is not trusted: an HTTP head of bounded length within bounded
 * time that requests an upgrade gets a channel; any other socket is closed without an answer. Without a key the address
 * of a listener ends with a random path, which only those know who were told to connect: a request for another path is
 * from a stranger, and is dropped before it costs a channel. It is no secret that authenticates anybody; it is sent in
 * the clear.
 */

import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { StciError } from '@stci/interface';
import type { Channel, Listener, ListenOptions } from '@stci/interface';
import { listenAddresses, socketAddress } from './addresses.js';
import { builtin } from './builtin.js';
import { PendingSockets } from './pending-sockets.js';
import { errnoOf } from './program.js';
import { randomBytes } from './secrets.js';
import { serverTls } from './tls.js';
import { WS_OPTIONS, wsChannel } from './ws-channel.js';

/** Longest HTTP head; ours has 200 bytes. */
const HEAD_BYTES_MAX = 4096;

/** Of the random path: too many to be guessed by connecting. */
const PATH_BYTES = 12;

type Accept = (channel: Channel) => void;

interface Place {
  readonly pending: PendingSockets;
  readonly accept: Accept;
  readonly key: Uint8Array | undefined;
  readonly path: string;
}

/** Takes sockets whose peers are ready to speak HTTP. */
function createHttp({ pending, accept, key, path }: Place): HttpServer {
  const scheme = key === undefined ? 'ws' : 'wss';
  const server = builtin('node:http').createServer({ maxHeaderSize: HEAD_BYTES_MAX });
  const upgrader = new WebSocketServer({ ...WS_OPTIONS, noServer: true, clientTracking: false });
  // PendingSockets enforces the deadline, from the connection on.
  server.headersTimeout = 0;
  server.requestTimeout = 0;
  server.on('request', (request) => pending.drop(request.socket));
  server.on('clientError', (_error, socket) => pending.drop(socket as Socket));
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head) => {
    if (request.url !== path) return pending.drop(socket);
    // ws itself answers an upgrade without the right headers with 400 and closes it.
    upgrader.handleUpgrade(request, socket, head, (ws) => {
      pending.release(socket);
      accept(wsChannel(ws, socketAddress(socket.remoteAddress ?? 'unknown', socket.remotePort ?? 0, scheme)));
    });
  });
  return server;
}

function createServer(place: Place): Server {
  const { pending, key } = place;
  const http = createHttp(place);
  if (key === undefined) return http.on('connection', (socket: Socket) => pending.add(socket));
  const secure = serverTls(key);
  return builtin('node:net').createServer((raw) => {
    const socket = secure(raw);
    pending.add(socket, raw.remoteAddress);
    socket.once('secure', () => {
      pending.advance(socket);
      http.emit('connection', socket);
    });
  });
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.removeListener('error', reject);
      // Later errors (no descriptor left for the next connection) do not affect the listener.
      server.on('error', () => {});
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function bindInRange(server: Server, host: string, ports: readonly [number, number]): Promise<number> {
  for (let port = ports[0]; ; port++) {
    try {
      return await bind(server, host, port);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'EADDRINUSE' && port < ports[1]) continue;
      const where = ports[0] === ports[1] ? socketAddress(host, port) : `${host}, ports ${ports[0]}-${ports[1]}`;
      const why = errno === 'EADDRINUSE' ? 'no port is free' : (error as Error).message;
      throw new StciError('STCI_LISTEN_FAILED', `Cannot listen on ${where}: ${why}.`, { cause: error });
    }
  }
}

/** Listens at all addresses or none; rejects with STCI_LISTEN_FAILED. */
export async function listenWs(options: ListenOptions, accept: Accept): Promise<Listener> {
  const pending = new PendingSockets(options.pendingMax, options.selectEviction);
  const { key } = options;
  const path = key === undefined ? `/${Buffer.from(randomBytes(PATH_BYTES)).toString('hex')}` : '/';
  const servers: Server[] = [];
  const close = (): void => {
    for (const server of servers) server.close();
    pending.clear();
  };
  try {
    const addresses: string[] = [];
    for (const host of listenAddresses(options.interfaces)) {
      const server = createServer({ pending, accept, key, path });
      const port = await bindInRange(server, host, options.ports ?? [0, 0]);
      servers.push(server);
      addresses.push(key === undefined ? `${socketAddress(host, port)}${path}` : socketAddress(host, port, 'wss'));
    }
    return { addresses, close };
  } catch (error) {
    close();
    throw error;
  }
}
