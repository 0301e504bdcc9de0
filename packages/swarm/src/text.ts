/** Bytes as text, a character for each byte. */

const PART = 8192;

export function bytesText(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PART) text += String.fromCharCode(...bytes.subarray(at, at + PART));
  return text;
}
