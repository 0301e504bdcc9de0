/**
 * Channels over WebSockets (package ws): what ws makes of a socket is a duplex stream, and the rest is the stream
 * channel's. Messages have no meaning of their own, channels carry bytes; but each is bounded, so that a peer that has
 * proved nothing can make us hold little.
 */

import { createWebSocketStream, WebSocket } from 'ws';
import type { Channel } from '@stci/interface';
import { streamChannel } from './stream-channel.js';
import { clientTls } from './tls.js';

/** Longest message; the sender cuts chunks to it. */
export const MESSAGE_BYTES_MAX = 256 * 1024;

/** Pieces in which one message may come: more than a network makes of it, fewer than a peer that sends single bytes. */
const CHUNKS_MAX = 4096;

/** After `close` the far end may still be reading what was sent; its owner decides how long that may take. */
const CLOSE_TIMEOUT_MS = 600_000;

export const WS_OPTIONS = {
  perMessageDeflate: false,
  maxPayload: MESSAGE_BYTES_MAX,
  skipUTF8Validation: true,
  // What our end never sends, and what an unauthenticated peer could make us hold or answer.
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

/** Connects; throws where the address is none, or wants a key and there is none, or the other way round. */
export function connectWs(address: string, deadlineMs: number, key?: Uint8Array): Channel {
  if (address.startsWith('wss:') !== (key !== undefined)) {
    throw new Error(key === undefined ? 'a wss: address needs a key' : 'an address with a key is a wss: address');
  }
  const ws = new WebSocket(address, {
    ...WS_OPTIONS,
    ...(key !== undefined && clientTls(key)),
    // A mask protects foreign proxies from our bytes; there is none between agents. Zeros cost nothing.
    generateMask: (mask) => void mask.fill(0),
  });
  const channel = wsChannel(ws, address);
  const timer = setTimeout(() => channel.destroy(`timed out after ${deadlineMs} ms`), Math.max(deadlineMs, 0));
  ws.once('open', () => clearTimeout(timer));
  ws.once('close', () => clearTimeout(timer));
  return channel;
}
