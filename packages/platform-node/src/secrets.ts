/**
 * Keys and proofs from node:crypto: the system's random source and HMAC-SHA-256. The module is loaded at the first
 * call.
 */

import type { Secrets } from '@stci/interface';
import { builtin } from './builtin.js';

export function createSecrets(): Secrets {
  return {
    bytes: (length) => new Uint8Array(builtin('node:crypto').randomBytes(length)),
    mac: (key, data) => new Uint8Array(builtin('node:crypto').createHmac('sha256', key).update(data).digest()),
  };
}
