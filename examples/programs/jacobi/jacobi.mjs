#!/usr/bin/env node
/**
 * Laplace's equation on a square by Jacobi's method, with @stci/client: README.md. jacobi.c is the same in C.
 *
 *   stcirun --client -n 4 node jacobi.mjs [POINTS [TOLERANCE]]
 */

import { connect } from '@stci/client';

const CHECK_EVERY = 10;
const STEPS_MAX = 1_000_000;

const [points = 32, tolerance = 1e-4] = process.argv.slice(2).map(Number);
const width = points + 2;

/** The rows from first to last, and one more on either side: 1 above the square, 0 at its other sides, 0 within. */
function make(first, last) {
  const rows = new Float64Array((last - first + 3) * width);
  if (first === 1) rows.fill(1, 0, width);
  return rows;
}

/** Computes all rows of `to` but the first and the last; returns the greatest change of a point. */
function step(from, to) {
  let change = 0;
  for (let row = width; row < from.length - width; row += width) {
    for (let at = row + 1; at <= row + points; at++) {
      to[at] = ((from[at - width] + from[at + width]) + (from[at - 1] + from[at + 1])) / 4;
      change = Math.max(change, Math.abs(to[at] - from[at]));
    }
  }
  return change;
}

/**
 * Computes until no point of the square changes by the tolerance or more. `exchange` gets the outer rows from the
 * neighbours, `greatest` the greatest change of all.
 */
async function solve(rows, exchange, greatest) {
  let [from, to] = [rows, rows.slice()];
  for (let steps = 1; ; steps++) {
    await exchange(from);
    const change = step(from, to);
    [from, to] = [to, from];
    const isDone = steps % CHECK_EVERY === 0 && (await greatest(change)) < tolerance;
    if (isDone || steps === STEPS_MAX) return { rows: from, steps };
  }
}

const stci = await connect();
const { rank, size } = stci;
if (!(points >= size && points <= 300 && tolerance > 0)) {
  console.error(`jacobi: expected ${size} to 300 points, a row for each rank, and a tolerance above 0`);
  process.exit(2);
}

/** Sends a row to a neighbour, and takes his into `into`. */
async function swap(neighbour, mine, into) {
  await stci.send(neighbour, mine, { tag: 'border' });
  const { value } = await stci.receive({ from: neighbour, tag: 'border' });
  into.set(new Float64Array(Uint8Array.from(value).buffer));
}

async function exchange(rows) {
  const row = (at) => rows.subarray(at, at + width);
  const [above, below] = [0, rows.length - width];
  await Promise.all([
    rank > 0 ? swap(rank - 1, row(above + width), row(above)) : undefined,
    rank < size - 1 ? swap(rank + 1, row(below - width), row(below)) : undefined,
  ]);
}

const first = Math.floor((points * rank) / size) + 1;
const last = Math.floor((points * (rank + 1)) / size);
const mine = await solve(make(first, last), exchange, (change) => stci.allReduce(change, Math.max));
const parts = await stci.gather(mine.rows.subarray(width, mine.rows.length - width));

if (parts !== undefined) {
  const alone = await solve(make(1, points), () => undefined, (change) => change);
  const together = Buffer.concat(parts);
  const isEqual = mine.steps === alone.steps
    && together.equals(Buffer.from(alone.rows.buffer, width * 8, together.length));
  const middle = alone.rows[Math.floor(points / 2) * width + Math.floor(points / 2)];
  console.log(`${points} x ${points} points, ${size} ranks, ${mine.steps} steps, middle ${middle}: `
    + (isEqual ? 'as computed by one process' : 'NOT as by one process'));
  process.exitCode = isEqual ? 0 : 1;
}
stci.close();
