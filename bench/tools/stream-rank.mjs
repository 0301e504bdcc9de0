/** A rank of bench/plugin.mjs: reduces over a stream along the named topology; the first prints how many ms it took. */

import { connect } from '@stci/client';

const [topology, times] = process.argv.slice(2);
const stci = await connect();
const stream = await stci.openStream({ topology, tag: 'bench', combine: (left, right) => left + right });
await stci.barrier();
const start = performance.now();
for (let i = 0; i < Number(times); i++) await stream.reduce(1);
await stci.barrier();
if (stci.rank === 0) console.log(performance.now() - start);
stream.close();
stci.close();
