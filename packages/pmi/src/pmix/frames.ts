/**
 * Frames of a connection behind its handshake: a header of four 32-bit integers, big endian (index of the peer, tag,
 * bytes of the body, nothing), and the body. A reply has its request's tag; tag 0 is an event.
 */

import { assert } from '@stci/interface';
import type { ByteQueue } from '../bytes/byte-queue.js';
import { refuseStream } from '../bytes/refusal.js';

export interface PmixFrame {
  readonly tag: number;
  readonly body: Uint8Array;
}

export const TAG = { event: 0, heartbeat: 1, forwarded: 2, requestMin: 101 } as const;

export const FRAME_HEADER_BYTES = 16;
export const FRAME_BODY_BYTES_MAX = 0x10_0000;

/** `peer`: to the server −1 or what it answered, to the client nothing that it reads. */
export function encodeFrame(tag: number, body: Uint8Array, peer = 0): Uint8Array {
  assert(body.length > 0, 'a client takes an empty body for a lost connection');
  const frame = new Uint8Array(FRAME_HEADER_BYTES + body.length);
  const view = new DataView(frame.buffer);
  view.setInt32(0, peer);
  view.setUint32(4, tag);
  view.setUint32(8, body.length);
  frame.set(body, FRAME_HEADER_BYTES);
  return frame;
}

/** The next whole frame of a queue; throws a refused stream as soon as a header claims too much. */
export function takeFrame(queue: ByteQueue, bodyBytesMax: number): PmixFrame | undefined {
  if (queue.length < FRAME_HEADER_BYTES) return undefined;
  const header = queue.peek(FRAME_HEADER_BYTES);
  const view = new DataView(header.buffer, header.byteOffset, FRAME_HEADER_BYTES);
  const tag = view.getUint32(4);
  const bodyBytes = view.getUint32(8);
  if (bodyBytes > bodyBytesMax) refuseStream(`a body of ${bodyBytesMax} bytes at most`, bodyBytes);
  if (queue.length < FRAME_HEADER_BYTES + bodyBytes) return undefined;
  queue.skip(FRAME_HEADER_BYTES);
  return { tag, body: queue.take(bodyBytes) };
}
