/**
 * Ed25519 keys in OpenSSH's files, generated here because 65 runs of ssh-keygen take longer than all else for 64 hosts.
 * The format of the private key is in OpenSSH's PROTOCOL.key, without a passphrase.
 */

import { generateKeyPairSync, randomBytes } from 'node:crypto';

export interface SshKey {
  /** Text of the private key's file. */
  readonly secret: string;
  /** `ssh-ed25519 AAAA…`, without a comment. */
  readonly open: string;
}

const TYPE = 'ssh-ed25519';
const BLOCK_BYTES = 8;
const KEY_BYTES = 32;

export function makeKey(): SshKey {
  // Encoded at once, not exported from key objects afterwards: Node 20's JWK export can deadlock in a garbage
  // collection. Both encodings end with the 32 bytes of the key.
  const pair = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' }, privateKeyEncoding: { type: 'pkcs8', format: 'der' },
  });
  const open = pair.publicKey.subarray(-KEY_BYTES);
  const seed = pair.privateKey.subarray(-KEY_BYTES);
  const blob = Buffer.concat([field(TYPE), field(open)]);
  return { secret: armoured(secretFile(blob, open, seed)), open: `${TYPE} ${blob.toString('base64')}` };
}

function secretFile(blob: Buffer, open: Buffer, seed: Buffer): Buffer {
  const check = randomBytes(4);
  const body = Buffer.concat([check, check, field(TYPE), field(open), field(Buffer.concat([seed, open])), field('')]);
  const padding = Buffer.from(Array.from({ length: -body.length & (BLOCK_BYTES - 1) }, (_, index) => index + 1));
  return Buffer.concat([
    Buffer.from('openssh-key-v1\0'), field('none'), field('none'), field(''), uint32(1), field(blob),
    field(Buffer.concat([body, padding])),
  ]);
}

function field(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function armoured(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  const label = 'OPENSSH PRIVATE KEY';
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
