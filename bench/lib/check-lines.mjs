/** Reads output of `tools/lines.cjs` with a tag before each line, and checks that every line is there and whole. */

import { closeSync, openSync, readSync } from 'node:fs';

export const LINE_BYTES = 80;
export const BLOCK_LINES = 800;

/** Bytes that one rank writes for a request of at least `bytes`. */
export const rankBytes = (bytes) => Math.ceil(bytes / (LINE_BYTES * BLOCK_LINES)) * LINE_BYTES * BLOCK_LINES;

const NEWLINE = 10;

/** Throws at the first wrong line. Ranks have one digit. */
export function checkLines(path, ranks, bytesEach, tagBytes = 0) {
  const width = LINE_BYTES + tagBytes;
  const next = new Array(ranks).fill(0);
  const counts = new Array(ranks).fill(0);
  const buffer = Buffer.alloc(width * 100_000);
  const fd = openSync(path, 'r');
  let at = 0;
  try {
    for (;;) {
      const got = fill(fd, buffer);
      if (got % width !== 0) throw new Error(`${path}: a line is cut at its end`);
      for (let i = 0; i < got; i += width, at += width) checkLine(buffer, i, width, tagBytes, next, counts, at);
      if (got < buffer.length) break;
    }
  } finally {
    closeSync(fd);
  }
  const expected = rankBytes(bytesEach) / LINE_BYTES;
  const wrong = counts.findIndex((count) => count !== expected);
  if (wrong >= 0) throw new Error(`${path}: rank ${wrong} has ${counts[wrong]} lines, expected ${expected}`);
  return at;
}

function checkLine(buffer, from, width, tagBytes, next, counts, at) {
  const start = from + tagBytes;
  const rank = buffer[start] - 48;
  const number = (buffer[start + 2] - 48) * 100 + (buffer[start + 3] - 48) * 10 + buffer[start + 4] - 48;
  if (buffer[from + width - 1] !== NEWLINE || next[rank] !== number) {
    const text = buffer.toString('latin1', from, from + width);
    throw new Error(`line at byte ${at}: expected line ${next[rank]} of rank ${rank}, got ${JSON.stringify(text)}`);
  }
  next[rank] = (number + 1) % BLOCK_LINES;
  counts[rank] += 1;
}

function fill(fd, buffer) {
  let got = 0;
  while (got < buffer.length) {
    const bytes = readSync(fd, buffer, got, buffer.length - got, null);
    if (bytes === 0) break;
    got += bytes;
  }
  return got;
}
