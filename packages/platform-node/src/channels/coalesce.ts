/**
 * Coalesces small writes. A frame's header and body, and all frames of one turn, are written together: small chunks are
 * copied into one (a copy is cheaper than a vector entry), large ones are not.
 */

/** Chunks shorter than this are copied together. */
const SMALL_BYTES = 16 * 1024;
/** Longest chunk made of copies. */
const JOINED_BYTES_MAX = 64 * 1024;

function join(chunks: readonly Uint8Array[], from: number, to: number, bytes: number): Uint8Array {
  if (to - from === 1) return chunks[from] as Uint8Array;
  const joined = Buffer.allocUnsafe(bytes);
  let offset = 0;
  for (let i = from; i < to; i++) {
    const chunk = chunks[i] as Uint8Array;
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}

function pushCut(result: Uint8Array[], chunk: Uint8Array, bytesMax: number): void {
  for (let from = 0; from < chunk.byteLength; from += bytesMax) {
    result.push(chunk.byteLength <= bytesMax ? chunk : chunk.subarray(from, from + bytesMax));
  }
}

/** Returns the same bytes in the same order, in fewer chunks, none longer than `chunkBytesMax` (at least 64 KiB). */
export function coalesce(chunks: readonly Uint8Array[], chunkBytesMax = Infinity): Uint8Array[] {
  const result: Uint8Array[] = [];
  let from = 0;
  let bytes = 0;
  const flush = (to: number): void => {
    if (bytes > 0) result.push(join(chunks, from, to, bytes));
    bytes = 0;
  };
  for (let i = 0; i < chunks.length; i++) {
    const length = (chunks[i] as Uint8Array).byteLength;
    if (length >= SMALL_BYTES || bytes + length > JOINED_BYTES_MAX) {
      flush(i);
      from = i;
    }
    if (length >= SMALL_BYTES) {
      pushCut(result, chunks[i] as Uint8Array, chunkBytesMax);
      from = i + 1;
    } else bytes += length;
  }
  flush(chunks.length);
  return result;
}
