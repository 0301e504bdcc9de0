/** Text as bytes in UTF-8. Both classes are globals of every platform. */

interface Decoder {
  decode(bytes?: Uint8Array, options?: { readonly stream?: boolean }): string;
}

declare const TextDecoder: new () => Decoder;
declare const TextEncoder: new () => { encode(text: string): Uint8Array };

/** Decoder of the chunks of one stream, in order. */
export function createDecoder(): Decoder {
  return new TextDecoder();
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
