#!/usr/bin/env node
/**
 * Counts the words of a directory's files, divided among the ranks of a job; goes on when ranks are lost: README.md.
 *
 *   stcirun --client --on-failure continue -n 4 node word-count.mjs DIRECTORY [--check]
 */

import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@stci/client';

const TOP = 10;

const [directory, option] = process.argv.slice(2);
if (directory === undefined || (option !== undefined && option !== '--check')) {
  console.error('word-count: expected a directory, and --check where the result is to be compared with a serial count');
  process.exit(2);
}

/** Names and sizes, the same list at each rank: the files must not change meanwhile. */
const files = readdirSync(directory, { withFileTypes: true })
  .filter((entry) => !entry.isDirectory())
  .map(({ name }) => ({ name, bytes: statSync(join(directory, name)).size }))
  .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));

/** Divides files among so many ranks: the largest first, each to whoever has least. */
function divide(list, size) {
  const shares = Array.from({ length: size }, () => ({ bytes: 0, list: [] }));
  for (const file of list) {
    const least = shares.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    least.list.push(file);
    least.bytes += file.bytes + 1;
  }
  return shares.map((share) => share.list);
}

function addFile(counts, { name }) {
  const text = readFileSync(join(directory, name), 'utf8');
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const lower = word.toLowerCase();
    counts.set(lower, (counts.get(lower) ?? 0) + 1);
  }
}

/** Counts as pairs, which JSON has: sums of two. */
function merge(left, right) {
  const sums = new Map(left);
  for (const [word, count] of right) sums.set(word, (sums.get(word) ?? 0) + count);
  return [...sums];
}

const byCount = ([a, m], [b, n]) => n - m || (a < b ? -1 : 1);

function report(counts, ranksLeft) {
  const sorted = counts.sort(byCount);
  for (const [word, count] of sorted.slice(0, TOP)) console.log(`${String(count).padStart(8)} ${word}`);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const serial = new Map();
  if (option === '--check') files.forEach((file) => addFile(serial, file));
  const isEqual = JSON.stringify([...serial].sort(byCount)) === JSON.stringify(sorted);
  const verdict = option !== '--check' ? '' : isEqual ? ': as counted by one process' : ': NOT as by one process';
  console.log(`${files.length} files, ${total} words, ${sorted.length} different, ranks: ${ranksLeft}${verdict}`);
  if (option === '--check' && !isEqual) process.exitCode = 1;
}

const stci = await connect();
stci.onFailure(({ ranks, reason }) => console.error(`rank ${stci.rank}: lost ${ranks.join(', ')}: ${reason}`));

/** What this rank has counted so far, and of which files. What a lost rank had counted is lost with it. */
const mine = new Map();
const done = new Set();

/** Counts what nobody of the group has counted, and adds all up at its first rank: the sums there, else undefined. */
async function countTogether() {
  const counted = new Set((await stci.allGather([...done])).flat());
  const missing = files.filter(({ name }) => !counted.has(name));
  for (const file of divide(missing, stci.group.size)[stci.group.rank]) {
    addFile(mine, file);
    done.add(file.name);
  }
  stci.mark(`counted-${done.size}`);
  return stci.reduce([...mine], merge);
}

for (let isDone = false; !isDone;) {
  try {
    const sums = await countTogether();
    if (sums !== undefined) report(sums, `${stci.group.size} of ${stci.size}`);
    const { failed } = await stci.agree(true);
    isDone = !failed.includes(stci.group.ranks[0]); // It may have been lost before it reported.
  } catch (error) {
    if (error.code !== 'STCI_CLIENT_RANK_LOST') throw error;
  }
  if (!isDone) await stci.shrink();
}
stci.close();
