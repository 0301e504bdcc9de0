/**
 * Keys and proofs: the system's random source and HMAC-SHA-256, both without node:crypto, whose load costs each agent 5
 * ms of processor time for a handshake of some hundred bytes; it is used if there is no /dev/urandom.
 */

import { hmacSha256, type Secrets } from '@stci/interface';
import { builtin } from './builtin.js';

const SOURCE = '/dev/urandom';

export function createSecrets(): Secrets {
  return { bytes: randomBytes, mac: hmacSha256 };
}

/** Bytes from the system's random source. */
export function randomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return readSource(bytes) ? bytes : new Uint8Array(builtin('node:crypto').randomBytes(length));
}

/** False unless all of `bytes` came from a character device: a regular file in its place would not be random. */
function readSource(bytes: Uint8Array): boolean {
  const { closeSync, fstatSync, openSync, readSync } = builtin('node:fs');
  let fd: number;
  try {
    fd = openSync(SOURCE, 'r');
  } catch {
    return false;
  }
  try {
    return fstatSync(fd).isCharacterDevice() && readSync(fd, bytes, 0, bytes.length, null) === bytes.length;
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}
