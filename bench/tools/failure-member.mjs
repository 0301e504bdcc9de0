/**
 * A rank that waits for the failure of others. Prints `up RANK`, its agent's process and its own; then, for each rank
 * that failed, `failed RANK NS`: the machine's monotonic time at which it was told, taken before anything else.
 */

import { connect } from '@stci/client';

const program = await connect();
program.onFailure(({ rank }) => {
  const atNs = process.hrtime.bigint();
  process.stdout.write(`failed ${rank} ${atNs}\n`);
});
await program.barrier();
process.stdout.write(`up ${program.rank} ${process.ppid} ${process.pid}\n`);
process.stdin.resume();
