/** Size of a message's body as CBOR: the codec of the workspace, without its code. */

function headBytes(value: number): number {
  return value < 24 ? 1 : value < 0x100 ? 2 : value < 0x1_0000 ? 3 : value < 0x1_0000_0000 ? 5 : 9;
}

/** Throws for a value that is not plain. */
export function plainSize(value: unknown): number {
  if (value === null || value === undefined || typeof value === 'boolean') return 1;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? headBytes(Math.abs(value)) : 9;
  if (typeof value === 'string') return sized(Buffer.byteLength(value));
  if (value instanceof Uint8Array) return sized(value.length);
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + plainSize(item), headBytes(value.length));
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`a body has plain values only, got ${typeof value}`);
  }
  const entries = Object.entries(value);
  return entries.reduce((sum, [key, item]) => sum + plainSize(key) + plainSize(item), headBytes(entries.length));
}

function sized(length: number): number {
  return headBytes(length) + length;
}
