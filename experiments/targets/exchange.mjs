/** A job that does nothing but exchange messages: as many agreements of all ranks as its argument says. */

import { connect } from '@stci/client';

const rounds = Number(process.argv[2]);
const stci = await connect();
await stci.barrier();
const since = performance.now();
for (let round = 0; round < rounds; round++) await stci.agree(true);
if (stci.rank === 0) console.log(`took ${(performance.now() - since).toFixed(1)} ms`);
stci.close();
