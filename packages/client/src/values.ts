/** Values as bytes: those of typed arrays as they are, strings as UTF-8, everything else as JSON. */

import type { Form } from '@stci/interface';
import { ClientError, argumentError } from './errors.js';

export interface Encoded {
  readonly form: Form;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A copy: the caller may change the value afterwards. Throws STCI_CLIENT_ARGUMENT, and STCI_CLIENT_LIMIT. */
export function encodeValue(call: string, value: unknown, bytesMax: number): Encoded {
  const encoded = encode(call, value);
  if (encoded.bytes.length <= bytesMax) return encoded;
  const text = `${call}: the value has ${encoded.bytes.length} bytes, at most ${bytesMax} are allowed`;
  throw new ClientError('STCI_CLIENT_LIMIT', text);
}

function encode(call: string, value: unknown): Encoded {
  if (typeof value === 'string') return { form: 'text', bytes: encoder.encode(value) };
  if (ArrayBuffer.isView(value)) {
    return { form: 'bytes', bytes: new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice() };
  }
  if (value instanceof ArrayBuffer) return { form: 'bytes', bytes: new Uint8Array(value).slice() };
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_, part: unknown) => checked(part));
  } catch (cause) {
    throw argumentError(call, `the value has no JSON: ${(cause as Error).message}`);
  }
  if (text === undefined) throw argumentError(call, `a value of type ${typeof value} has no JSON`);
  return { form: 'json', bytes: encoder.encode(text) };
}

/** What JSON would change without a word is refused. */
function checked(part: unknown): unknown {
  if (typeof part === 'number' && !Number.isFinite(part)) throw new Error(`${part} would arrive as null`);
  if (part instanceof Map || part instanceof Set) throw new Error(`a ${part.constructor.name} would arrive empty`);
  return part;
}

/** Bytes stay bytes, a Uint8Array. Throws SyntaxError for JSON that is none, as another program may send it. */
export function decodeValue({ form, bytes }: Encoded): unknown {
  if (form === 'bytes') return bytes;
  const text = decoder.decode(bytes);
  return form === 'text' ? text : JSON.parse(text);
}
