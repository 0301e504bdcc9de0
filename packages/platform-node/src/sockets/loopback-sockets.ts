/**
 * A port of 127.0.0.1 for this user's programs, which know no secret. Who connects is looked up in the system's table
 * of connections: it says of each end which user's it is. Loaded at the first use.
 */

import type { Server, Socket } from 'node:net';
import { StciError } from '@stci/interface';
import type { Channel, ListenOptions, LoopbackListener } from '@stci/interface';
import { closeReason, streamChannel } from '../channels/stream-channel.js';
import { builtin } from '../system/builtin.js';
import { PendingSockets } from './pending-sockets.js';

const LOOPBACK = '127.0.0.1';
/** Deadline of a peer's first bytes. */
const SILENCE_MS = 10_000;
/** The table has a line for each connection of this network stack; of more than this nothing is looked up. */
const TABLE_BYTES_MAX = 64 * 1024 * 1024;

/** Between two looks at the table, which take longer than all else that a connection costs. */
const TABLE_MS = 10;

/** Rejects with STCI_LISTEN_FAILED. */
export async function listenLoopback(
  { pendingMax, selectEviction }: Pick<ListenOptions, 'pendingMax' | 'selectEviction'>,
  accept: (channel: Channel) => void,
): Promise<LoopbackListener> {
  const pending = new PendingSockets(pendingMax, selectEviction, SILENCE_MS);
  const server = builtin('node:net').createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {});
    if (unchecked.push(socket) === 1) setTimeout(check, Math.max(0, readMs + TABLE_MS - performance.now()));
  });
  const unchecked: Socket[] = [];
  let readMs = -TABLE_MS;
  const check = (): void => {
    readMs = performance.now();
    const [table, port, uid] = [readTable(), portOf(server), String(process.getuid?.())];
    for (const socket of unchecked.splice(0)) {
      const from = socket.remotePort ?? 0;
      if (userOfConnection(table, from, port) !== uid) {
        socket.destroy();
        continue;
      }
      pending.add(socket);
      accept(streamChannel({ kind: 'tcp', label: `${LOOPBACK}:${from}`, readable: socket, writable: socket }));
      socket.once('data', () => pending.release(socket));
    }
  };
  try {
    await bind(server);
  } catch (thrown) {
    server.close();
    const text = `Cannot listen on ${LOOPBACK}: ${closeReason(thrown as Error)}.`;
    throw new StciError('STCI_LISTEN_FAILED', text, { cause: thrown });
  }
  return { port: portOf(server), close: () => void server.close() };
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

function readTable(): string {
  try {
    const text = builtin('node:fs').readFileSync('/proc/net/tcp', 'latin1');
    return text.length <= TABLE_BYTES_MAX ? text : '';
  } catch {
    return '';
  }
}

/** In the system's table (proc(5), /proc/net/tcp), the user of the end at this port; undefined: there is none. */
export function userOfConnection(table: string, from: number, to: number): string | undefined {
  const at = table.indexOf(`: ${endOf(from)} ${endOf(to)} `);
  return at < 0 ? undefined : table.slice(at + 2, table.indexOf('\n', at)).trim().split(/\s+/)[6];
}

/** 127.0.0.1 as the system writes it, in the order of the machine's bytes. */
function endOf(port: number): string {
  const address = new Uint8Array(Uint32Array.of(0x0100_007f).buffer)[0] === 0x7f ? '0100007F' : '7F000001';
  return `${address}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
}
