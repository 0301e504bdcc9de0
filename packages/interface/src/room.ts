/**
 * Chunks with room in front: who reads a large chunk leaves some bytes of its buffer free before it, so that a label
 * and a frame header can be written there, and what is sent is one piece that nobody need copy.
 */

/** Enough for the header of a frame and the label of a chunk of output. */
export const ROOM_BYTES = 64;

/** Buffers whose first bytes are free, until a header has been written. */
const roomy = new WeakSet<ArrayBufferLike>();

/** `chunk` lies in a buffer of its own, whose bytes before it are free. */
export function markRoom(chunk: Uint8Array): void {
  roomy.add(chunk.buffer);
}

/** `chunk` with `bytes` more in front, to be written to; undefined: there is no room. */
export function extendFront(chunk: Uint8Array, bytes: number): Uint8Array | undefined {
  if (chunk.byteOffset < bytes || !roomy.has(chunk.buffer)) return undefined;
  return new Uint8Array(chunk.buffer, chunk.byteOffset - bytes, chunk.length + bytes);
}

/** The room is used: what is in front belongs to what has been sent. */
export function closeRoom(chunk: Uint8Array): void {
  roomy.delete(chunk.buffer);
}
