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
  if (Array.isArray(value)) return itemsSize(value);
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError(`a body has plain values only, got ${typeof value}`);
  }
  const keys = Object.keys(value);
  let bytes = headBytes(keys.length);
  for (const key of keys) bytes += plainSize(key) + plainSize((value as Record<string, unknown>)[key]);
  return bytes;
}

function itemsSize(items: readonly unknown[]): number {
  let bytes = headBytes(items.length);
  for (const item of items) bytes += plainSize(item);
  return bytes;
}

function sized(length: number): number {
  return headBytes(length) + length;
}
