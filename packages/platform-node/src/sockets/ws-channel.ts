/**
 * Channels over WebSockets (package ws): ws makes a duplex stream of a socket, on which a stream channel is built.
 * Messages have no meaning of their own, channels carry bytes; but each is bounded, so that an unauthenticated peer
 * cannot make us hold much.
 */

import { createWebSocketStream, WebSocket } from 'ws';
import type { Channel } from '@stci/interface';
import { streamChannel } from '../channels/stream-channel.js';
import { connecting, notReached, type Done } from './connecting.js';
import { clientTls } from './tls.js';

/** Longest message; the sender cuts chunks to it. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Fragments of one message: more than a network makes of it, fewer than a peer that sends single bytes. */
const CHUNKS_MAX = 4096;

/** Time after `close` in which the peer may be reading; the channel's owner decides how long that may take. */
const CLOSE_TIMEOUT_MS = 600_000;

export const WS_OPTIONS = {
  perMessageDeflate: false,
  maxPayload: MESSAGE_BYTES_MAX,
  skipUTF8Validation: true,
  // Our end never sends these, and an unauthenticated peer could make us store or answer them.
  maxFragments: 1,
  maxBufferedChunks: CHUNKS_MAX,
  autoPong: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
} as const;

/** A channel over an open or connecting WebSocket. */
export function wsChannel(ws: WebSocket, label: string): Channel {
  const duplex = createWebSocketStream(ws, { highWaterMark: MESSAGE_BYTES_MAX });
  return streamChannel({ kind: 'ws', label, readable: duplex, writable: duplex, chunkBytesMax: MESSAGE_BYTES_MAX });
}

/** Throws STCI_LINK_UNREACHABLE if the address is invalid, or only one of address and caller has a key. */
export function connectWs(address: string, deadlineMs: number, key: Uint8Array | undefined, done: Done): Channel {
  // Without the path, which is nobody else's business.
  const label = address.replace(/(?<=:\d+)\/.*$/, '');
  const ws = openWs(address, label, key);
  return connecting({ channel: wsChannel(ws, label), socket: ws, established: 'open', label, deadlineMs, done });
}

function openWs(address: string, label: string, key: Uint8Array | undefined): WebSocket {
  if (address.startsWith('wss:') !== (key !== undefined)) {
    const why = key === undefined ? 'a wss: address needs a key' : 'an address with a key is a wss: address';
    throw notReached(label, 'unreachable', why);
  }
  try {
    return new WebSocket(address, {
      ...WS_OPTIONS,
      ...(key !== undefined && clientTls(key)),
      // Masks protect proxies from the data; there are none between agents. Zeros cost nothing.
      generateMask: (mask) => void mask.fill(0),
    });
  } catch (thrown) {
    throw notReached(label, 'unreachable', (thrown as Error).message);
  }
}
