/**
 * A port of 127.0.0.1 for this user's programs, which know no secret. Who connects is looked up in the system's table
 * of connections: it says of each end which user's it is. The table is long where there are many connections, of
 * whoever: it is read beside the agent's work, once for all that have come meanwhile. Loaded at the first use.
 */

import type { Server, Socket } from 'node:net';
import { StciError } from '@stci/interface';
import type { Channel, ListenOptions, LoopbackListener } from '@stci/interface';
import { closeReason, streamChannel } from '../channels/stream-channel.js';
import { builtin } from '../system/builtin.js';
import { PendingSockets } from './pending-sockets.js';

const LOOPBACK = '127.0.0.1';
/** 127.0.0.1 as the system writes it, in the order of the machine's bytes. */
const LOOPBACK_HEX = new Uint8Array(Uint32Array.of(0x0100_007f).buffer)[0] === 0x7f ? '0100007F' : '7F000001';
/** Deadline of a peer's first bytes. */
const SILENCE_MS = 10_000;
/** The table has a line for each connection of this network stack; of more than this nothing is looked up. */
const TABLE_BYTES_MAX = 64 * 1024 * 1024;
/** Behind the remote end. */
const LINE_CHARS_MAX = 256;

/** Between two looks at the table, which take longer than all else that a connection costs. */
const TABLE_MS = 10;

/** Rejects with STCI_LISTEN_FAILED. */
export async function listenLoopback(
  { pendingMax, selectEviction }: Pick<ListenOptions, 'pendingMax' | 'selectEviction'>,
  accept: (channel: Channel) => void,
): Promise<LoopbackListener> {
  const pending = new PendingSockets(pendingMax, selectEviction, SILENCE_MS);
  const judge = judging((socket, isOurs) => {
    if (!isOurs) return pending.drop(socket);
    const label = `${LOOPBACK}:${socket.remotePort}`;
    accept(streamChannel({ kind: 'tcp', label, readable: socket, writable: socket }));
    socket.once('data', () => pending.release(socket));
  });
  const server = builtin('node:net').createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
    pending.add(socket);
    judge(socket);
  });
  try {
    await bind(server);
  } catch (thrown) {
    server.close();
    const text = `Cannot listen on ${LOOPBACK}: ${closeReason(thrown as Error)}.`;
    throw new StciError('STCI_LISTEN_FAILED', text, { cause: thrown });
  }
  return {
    port: portOf(server),
    close: () => {
      server.close();
      pending.clear();
    },
  };
}

function bind(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: LOOPBACK }, () => {
      server.removeListener('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

/** Calls `done` for each socket that has not been closed meanwhile: whether its other end is this user's. */
function judging(done: (socket: Socket, isOurs: boolean) => void): (socket: Socket) => void {
  let waiting: Socket[] = [];
  let isReading = false;
  let readMs = -TABLE_MS;
  const read = async (): Promise<void> => {
    isReading = true;
    while (waiting.length > 0) {
      const pauseMs = readMs + TABLE_MS - performance.now();
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      readMs = performance.now();
      const sockets = waiting;
      waiting = [];
      const users = usersOfConnections(await readTable(), sockets[0]?.localPort ?? 0);
      const own = String(process.getuid?.());
      for (const socket of sockets) {
        // The port alone is not enough: others may have the same of another address of this machine.
        const isLocal = socket.remoteAddress === LOOPBACK;
        if (!socket.destroyed) done(socket, isLocal && users.get(socket.remotePort ?? 0) === own);
      }
    }
    isReading = false;
  };
  return (socket) => {
    waiting.push(socket);
    if (!isReading) void read();
  };
}

async function readTable(): Promise<string> {
  try {
    const text = await builtin('node:fs').promises.readFile('/proc/net/tcp', 'latin1');
    return text.length <= TABLE_BYTES_MAX ? text : '';
  } catch {
    return '';
  }
}

/**
 * In the system's table (proc(5), /proc/net/tcp), the users of the ends that are connected to this port, by their own.
 * What no process has open any longer is root's there.
 */
export function usersOfConnections(table: string, to: number): Map<number, string> {
  const end = endOf(to);
  const users = new Map<number, string>();
  for (let at = table.indexOf(` ${end} `); at >= 0; at = table.indexOf(` ${end} `, at + 1)) {
    const line = table.slice(table.lastIndexOf('\n', at) + 1, at + LINE_CHARS_MAX).split('\n', 1)[0] as string;
    const [, from = '', remote, , , , , user = '', , inode] = line.trim().split(/\s+/);
    const [address, port = ''] = from.split(':');
    if (remote === end && address === LOOPBACK_HEX && inode !== '0') users.set(Number.parseInt(port, 16), user);
  }
  return users;
}

function endOf(port: number): string {
  return `${LOOPBACK_HEX}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
