/**
 * Bytes: joined; and chunks with room in front. The reader of a large chunk leaves some bytes free before it, so that a
 * label and a frame header can be written there, and the result is sent in one piece without a copy.
 */

/** The pieces as one array; a single piece is returned as it is. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Fits a frame header and the label of a chunk of output. */
export const ROOM_BYTES = 64;

/** Buffers whose first bytes are free; removed once a header has been written. */
const withRoom = new WeakSet<ArrayBufferLike>();

/** How often the buffers that are read into again are held, and what frees each when it is held no more. */
interface Hold {
  count: number;
  free: (() => void) | undefined;
}
const holds = new WeakMap<ArrayBufferLike, Hold>();

/** Marks the bytes before `chunk` in its buffer as free; the buffer must hold no other chunk. */
export function markRoom(chunk: Uint8Array): void {
  withRoom.add(chunk.buffer);
  holds.set(chunk.buffer, { count: 0, free: undefined });
}

/** The buffer of `chunk` is not read into again until it was released as often: its bytes may be sent again. */
export function holdBuffer(chunk: Uint8Array): void {
  const hold = holds.get(chunk.buffer);
  if (hold !== undefined) hold.count += 1;
}

export function releaseBuffer(chunk: Uint8Array): void {
  const hold = holds.get(chunk.buffer);
  if (hold === undefined) return;
  hold.count -= 1;
  if (hold.count > 0) return;
  hold.free?.();
  hold.free = undefined;
}

/** Calls `free` when the buffer is not held: now, or later. */
export function whenReleased(buffer: ArrayBufferLike, free: () => void): void {
  const hold = holds.get(buffer);
  if (hold !== undefined && hold.count > 0) hold.free = free;
  else free();
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
