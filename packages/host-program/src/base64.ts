/** Base64 of ASCII text: shells and Node pass it on unchanged. */

import { assert } from '@stci/interface';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Asserts that `text` is ASCII. */
export function base64(text: string): string {
  let encoded = '';
  for (let at = 0; at < text.length; at += 3) {
    const codes = [0, 1, 2].map((offset) => (at + offset < text.length ? text.charCodeAt(at + offset) : undefined));
    assert(codes.every((code) => code === undefined || code < 128), 'what is sent in base64 is ASCII');
    const [first = 0, second = 0, third = 0] = codes;
    const bits = (first << 16) | (second << 8) | third;
    for (let digit = 0; digit < 4; digit++) {
      encoded += digit > 0 && codes[digit - 1] === undefined ? '=' : DIGITS[(bits >> (18 - 6 * digit)) & 63];
    }
  }
  return encoded;
}
