/**
 * Chunks with room in front: the reader of a large chunk leaves some bytes free before it, so that a label and a frame
 * header can be written there, and the result is sent in one piece without a copy.
 */

/** Fits a frame header and the label of a chunk of output. */
export const ROOM_BYTES = 64;

/** Buffers whose first bytes are free; removed once a header has been written. */
const withRoom = new WeakSet<ArrayBufferLike>();

/** Marks the bytes before `chunk` in its buffer as free; the buffer must hold no other chunk. */
export function markRoom(chunk: Uint8Array): void {
  withRoom.add(chunk.buffer);
}

/** `chunk` with `bytes` more in front, to be written to; undefined if there is no room. */
export function extendFront(chunk: Uint8Array, bytes: number): Uint8Array | undefined {
  if (chunk.byteOffset < bytes || !withRoom.has(chunk.buffer)) return undefined;
  return new Uint8Array(chunk.buffer, chunk.byteOffset - bytes, chunk.length + bytes);
}

/** The room has been written to and must not be used again. */
export function closeRoom(chunk: Uint8Array): void {
  withRoom.delete(chunk.buffer);
}
