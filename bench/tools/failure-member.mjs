/**
 * A rank that waits for the failure of others. Prints `up RANK`, its agent's process and its own; then, for each rank
 * that failed, `failed RANK NS`: the machine's monotonic time at which it was told, taken before anything else.
 */

import { built } from '../lib/place.mjs';

const { connect } = await built('client', 'index.js');

const program = await connect();
program.onFailure(({ ranks }) => {
  const atNs = process.hrtime.bigint();
  for (const rank of ranks) process.stdout.write(`failed ${rank} ${atNs}\n`);
});
await program.barrier();
process.stdout.write(`up ${program.rank} ${process.ppid} ${process.pid}\n`);
setInterval(() => undefined, 60_000); // The library keeps no process alive.
