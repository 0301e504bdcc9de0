/**
 * Listeners for WebSockets. Input is not trusted: an HTTP head of bounded length within bounded
 * time that requests an upgrade gets a channel; any other socket is closed without an answer. Without a key the address
 * of a listener ends with a random path, which only those know who were told to connect: a request for another path is
 * from a stranger, and is dropped before it costs a channel. It is no secret that authenticates anybody; it is sent in
 * the clear.
 */

import type { IncomingMessage, Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import type { Channel, Listener, ListenOptions } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { randomBytes } from '../system/secrets.js';
import { peerAddress, socketAddress } from './addresses.js';
import { listenAt, tlsServer } from './listening.js';
import { PendingSockets } from './pending-sockets.js';
import { WS_OPTIONS, wsChannel } from './ws-channel.js';

/** Longest HTTP head; ours has 200 bytes. */
const HEAD_BYTES_MAX = 4096;

/** Length of the random path: too many to be guessed by connecting. */
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
      accept(wsChannel(ws, socketAddress(peerAddress(socket), socket.remotePort ?? 0, scheme)));
    });
  });
  return server;
}

function createServer(place: Place): Server {
  const { pending, key } = place;
  const http = createHttp(place);
  if (key === undefined) return http.on('connection', (socket: Socket) => pending.add(socket));
  return tlsServer(key, pending, (socket) => void http.emit('connection', socket));
}

/** Listens at all addresses or none; rejects with STCI_LISTEN_FAILED. */
export async function listenWs(options: ListenOptions, accept: Accept): Promise<Listener> {
  const pending = new PendingSockets(options.pendingMax, options.selectEviction);
  const { key } = options;
  const path = key === undefined ? `/${Buffer.from(randomBytes(PATH_BYTES)).toString('hex')}` : '/';
  const create = () => createServer({ pending, accept, key, path });
  const scheme = key === undefined ? 'ws' : 'wss';
  return listenAt(options, { pending, scheme, ...(key === undefined && { path }), create });
}
