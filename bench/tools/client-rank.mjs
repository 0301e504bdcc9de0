/** A rank of the bench `client`; rank 0 writes how long barrier, all-gather and the exchange of keys take. */

import { connect } from '../../packages/client/dist/index.js';

const [, , times, keys] = process.argv.slice(2).map(Number);
const stci = await connect();
const { rank, size } = stci;

async function each(call) {
  for (let i = 0; i < 3; i++) await call();
  const sinceMs = performance.now();
  for (let i = 0; i < times; i++) await call();
  return (performance.now() - sinceMs) / times;
}

const barrierMs = await each(() => stci.barrier());
const part = new Uint8Array(8).fill(rank);
const gatherMs = await each(() => stci.allGather(part));
await stci.barrier();
const sinceMs = performance.now();
const puts = [];
for (let key = rank; key < keys; key += size) puts.push(stci.put(`key.${key}`, `value of ${key}, by rank ${rank}`));
await Promise.all(puts);
await stci.exchange();
const keysMs = performance.now() - sinceMs;
for (let i = 0; i < 10; i++) {
  const key = (rank * 31 + i * 97) % keys;
  const value = await stci.get(`key.${key}`);
  if (value !== `value of ${key}, by rank ${key % size}`) throw new Error(`key.${key} is ${value}`);
}
await stci.barrier();
if (rank === 0) console.log(JSON.stringify({ barrierMs, gatherMs, keysMs }));
stci.close();
