/**
 * A rank that waits for the failure of others. Prints `up RANK PID`; then, for each rank that failed, `failed RANK NS`:
 * the machine's monotonic time at which it was told, taken before anything else. It is printed later: the output of all
 * ranks goes through the agents, and would delay the news that is measured.
 */

import { built } from '../lib/place.mjs';

const { connect } = await built('client', 'index.js');

/** Longer than it takes to tell all. */
const PRINT_MS = 500;

const program = await connect();
program.onFailure(({ ranks }) => {
  const atNs = process.hrtime.bigint();
  setTimeout(() => ranks.forEach((rank) => process.stdout.write(`failed ${rank} ${atNs}\n`)), PRINT_MS);
});
await program.barrier();
process.stdout.write(`up ${program.rank} ${process.pid}\n`);
setInterval(() => undefined, 60_000); // The library keeps no process alive.
