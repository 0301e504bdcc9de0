/**
 * SHA-256 and HMAC (FIPS 180-4, RFC 2104) in plain TypeScript: the simulation has no system library to ask, and the
 * handshake's proofs must be the same bytes as on a real platform. For short inputs.
 */

const BLOCK_BYTES = 64;

/** First 32 bits of the fractions of the cube roots of the first 64 primes. */
const K = makeTable((prime) => Math.cbrt(prime), 64);
/** The same of the square roots of the first 8 primes. */
const START = makeTable((prime) => Math.sqrt(prime), 8);

function makeTable(root: (prime: number) => number, count: number): Uint32Array {
  const table = new Uint32Array(count);
  let found = 0;
  for (let candidate = 2; found < count; candidate++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) isPrime = false;
    if (isPrime) table[found++] = Math.floor((root(candidate) % 1) * 0x1_0000_0000);
  }
  return table;
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function at(words: Uint32Array, index: number): number {
  return words[index] as number;
}

const schedule = new Uint32Array(64);

function expand(view: DataView, offset: number): void {
  for (let t = 0; t < 16; t++) schedule[t] = view.getUint32(offset + 4 * t);
  for (let t = 16; t < 64; t++) {
    const early = at(schedule, t - 15);
    const late = at(schedule, t - 2);
    const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[t] = at(schedule, t - 16) + s0 + at(schedule, t - 7) + s1;
  }
}

function compress(state: Uint32Array, view: DataView, offset: number): void {
  expand(view, offset);
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(K, t) + at(schedule, t)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = at(state, index) + word;
  });
}

export function sha256(data: Uint8Array): Uint8Array {
  const paddedBytes = Math.ceil((data.length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  const padded = new Uint8Array(paddedBytes);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(paddedBytes - 8, Math.floor(data.length / 0x2000_0000));
  view.setUint32(paddedBytes - 4, data.length * 8);
  const state = START.slice();
  for (let offset = 0; offset < paddedBytes; offset += BLOCK_BYTES) compress(state, view, offset);
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, index) => out.setUint32(4 * index, word));
  return digest;
}

export function hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? sha256(key) : key);
  const inner = new Uint8Array(BLOCK_BYTES + data.length);
  const outer = new Uint8Array(BLOCK_BYTES + 32);
  block.forEach((byte, index) => {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  });
  inner.set(data, BLOCK_BYTES);
  outer.set(sha256(inner), BLOCK_BYTES);
  return sha256(outer);
}
