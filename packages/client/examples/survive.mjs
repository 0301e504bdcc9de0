/**
 * A computation that survives the loss of ranks and of hosts: the number pi by sampling, in blocks of random points
 * whose numbers alone decide them, so that any rank can compute any block. Each rank writes its blocks into a directory
 * that all hosts share. Then all agree whether somebody was lost; if so, the survivors divide the missing blocks among
 * themselves. In the end the first of them adds up all blocks, and compares the sum with that of one process alone.
 *
 *   stcirun --client --on-failure continue --host a,b -n 4 node survive.mjs DIRECTORY [BLOCKS [POINTS]]
 *
 * With `--on-failure restart`, ranks that were started again take their part of what is missing from the next round on.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@stci/client';

const [directory, blocks = 64, points = 200_000] = [process.argv[2], ...process.argv.slice(3).map(Number)];

/** How many of the block's points are within the quarter circle. */
function compute(block) {
  let state = (block + 1) * 0x9e3779b9;
  const random = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    return (state ^ (state >>> 13)) >>> 0;
  };
  let inside = 0;
  for (let i = 0; i < points; i++) {
    const [x, y] = [random() / 2 ** 32, random() / 2 ** 32];
    if (x * x + y * y < 1) inside += 1;
  }
  return inside;
}

mkdirSync(directory, { recursive: true });
const fileOf = (block) => join(directory, `block-${block}`);

/** Whole or not at all: the rank may die at any moment. */
function save(block, inside) {
  const part = `${fileOf(block)}.${process.env.STCI_RANK}`;
  writeFileSync(part, String(inside));
  renameSync(part, fileOf(block));
}

const all = Array.from({ length: blocks }, (_, block) => block);
const stci = await connect();
const watchdog = stci.watchdog(30_000);
stci.onFailure(({ ranks, reason }) => console.log(`rank ${stci.rank}: lost ${ranks.join(', ')}: ${reason}`));

let group = await stci.shrink();
let survivors;
for (;;) {
  const missing = all.filter((block) => !existsSync(fileOf(block)));
  // All see the same blocks as missing: nobody begins before all have looked. It fails at all, or at none.
  try {
    await stci.barrier();
  } catch (error) {
    if (error.code !== 'STCI_CLIENT_RANK_LOST') throw error;
    group = await stci.shrink();
    continue;
  }
  for (const block of missing.filter((_, i) => i % group.size === group.rank)) {
    save(block, compute(block));
    watchdog.alive();
    await new Promise(setImmediate); // Lets the losses in.
  }
  const { flag, failed } = await stci.agree(all.every((block) => existsSync(fileOf(block))));
  survivors = group.ranks.filter((rank) => !failed.includes(rank));
  if (flag) break;
  group = await stci.shrink();
}

if (survivors[0] === stci.rank) {
  const parallel = all.reduce((sum, block) => sum + Number(readFileSync(fileOf(block), 'utf8')), 0);
  const serial = all.reduce((sum, block) => sum + compute(block), 0);
  const result = `pi is about ${(4 * serial) / (blocks * points)}, ranks left: ${survivors.length} of ${stci.size}`;
  console.log(`${result}, ${parallel === serial ? 'as computed by one process' : `but ${parallel} is not ${serial}`}`);
}
watchdog.stop();
stci.close();
