/**
 * Private sockets: unix sockets that only processes of the same user on this host can connect to. Loaded at the first
 * use. A socket of a process that was killed stays in its directory; the next listener there removes it.
 */

import type { Server, Socket } from 'node:net';
import { StciError } from '@stci/interface';
import type { Channel, PrivateListener, PrivateListenOptions } from '@stci/interface';
import { closeReason, streamChannel } from '../channels/stream-channel.js';
import { privatePath, socketProblem } from '../files/private-directory.js';
import { builtin } from '../system/builtin.js';
import { errnoOf } from '../system/program.js';
import { connecting, failure, notReached, type Done } from './connecting.js';
import { PendingSockets } from './pending-sockets.js';

const SUFFIX = '.sock';
const RANDOM_BYTES = 8;
/** Deadline of a peer's first bytes: it may be at the other end of a slow login. */
const SILENCE_MS = 30_000;
/** Sockets of other processes that are examined at one start. */
const EXAMINED_MAX = 48;
/** A younger socket may not be listened on yet. */
const STALE_MS = 10_000;

/** Rejects with STCI_LISTEN_FAILED. */
export async function listenPrivate(
  { prefix, pendingMax, selectEviction }: PrivateListenOptions,
  accept: (channel: Channel) => void,
): Promise<PrivateListener> {
  const name = `${prefix}-${builtin('node:crypto').randomBytes(RANDOM_BYTES).toString('hex')}${SUFFIX}`;
  const path = privatePath(name);
  const pending = new PendingSockets(pendingMax, selectEviction, SILENCE_MS);
  const server = builtin('node:net').createServer((socket) => {
    pending.add(socket, path);
    accept(unixChannel(socket, path));
    // What is bounded here are silent peers; who has spoken is bounded by the handshake of its link.
    socket.once('data', () => pending.release(socket));
  });
  try {
    await bind(server, path);
    builtin('node:fs').chmodSync(path, 0o600);
  } catch (thrown) {
    server.close();
    const why = closeReason(thrown as Error);
    throw new StciError('STCI_LISTEN_FAILED', `Cannot listen on ${path}: ${why}.`, { cause: thrown });
  }
  removeStale(path);
  return { path, close: releaser(server, path) };
}

function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.removeListener('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
}

/** Removes the socket's file, also when the process exits by itself: Node does not close a server then. */
function releaser(server: Server, path: string): () => void {
  const remove = (): void => builtin('node:fs').rmSync(path, { force: true });
  process.once('exit', remove);
  return () => {
    process.removeListener('exit', remove);
    server.close();
  };
}

function unixChannel(socket: Socket, label: string): Channel {
  return streamChannel({ kind: 'unix', label, readable: socket, writable: socket });
}

/** Throws STCI_LINK_UNREACHABLE if there is no socket, or others could have access to it. */
export function connectPrivate(path: string, deadlineMs: number, done: Done): Channel {
  const problem = problemOf(path);
  if (problem !== undefined) throw notReached(path, 'refused', problem);
  const socket = builtin('node:net').connect({ path });
  const channel = unixChannel(socket, path);
  return connecting({ channel, socket, established: 'connect', label: path, deadlineMs, done });
}

function problemOf(path: string): string | undefined {
  try {
    return socketProblem(path);
  } catch (thrown) {
    throw failure(path, thrown as Error);
  }
}

/** Removes sockets of processes that have ended from the directory of `own`: nobody listens on them. */
function removeStale(own: string): void {
  const { lstatSync, readdirSync } = builtin('node:fs');
  const { dirname, join } = builtin('node:path');
  const directory = dirname(own);
  const bound = boundSockets();
  const found = readdirSync(directory).filter((name) => name.endsWith(SUFFIX)).map((name) => join(directory, name));
  for (const path of found.filter((other) => other !== own && !bound.has(other)).slice(0, EXAMINED_MAX)) {
    try {
      if (Date.now() - lstatSync(path).ctimeMs > STALE_MS) removeIfRefused(path);
    } catch {
      // Another process was quicker.
    }
  }
}

/** Paths on which somebody of this network namespace listens; those need not be disturbed by a connection. */
function boundSockets(): ReadonlySet<string> {
  try {
    const lines = builtin('node:fs').readFileSync('/proc/net/unix', 'utf8').split('\n');
    return new Set(lines.map((line) => line.slice(line.indexOf(' /') + 1)));
  } catch {
    return new Set();
  }
}

function removeIfRefused(path: string): void {
  const socket = builtin('node:net').connect({ path });
  socket.unref();
  socket.on('connect', () => socket.destroy());
  socket.on('error', (error) => {
    if (errnoOf(error) === 'ECONNREFUSED') builtin('node:fs').rm(path, { force: true }, () => {});
  });
}
