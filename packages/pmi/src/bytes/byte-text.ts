/**
 * Byte texts: strings whose characters are bytes (Latin-1), for protocols whose strings may hold any byte. They keep
 * every byte on the way through; what a person reads is decoded as UTF-8 by who shows it.
 */

import { assert } from '@stci/interface';

/** Globals of every platform. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };

/** Arguments of one call of String.fromCharCode. */
const CHUNK = 4096;

export function toByteText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    // Spread would go through an iterator, which is ten times as slow.
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[]);
  }
  return text;
}

export function fromByteText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    assert(code <= 0xff, `a byte text has no character ${code}`);
    bytes[at] = code;
  }
  return bytes;
}

/** What a byte text says: its bytes as UTF-8. */
export function readText(text: string): string {
  return new TextDecoder().decode(fromByteText(text));
}

/** The bytes of a sentence for people, as UTF-8. */
export function writeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
