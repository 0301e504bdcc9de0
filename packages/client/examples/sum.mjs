/** The sum of 1 to the number of ranks, each of which knows one number: `stcirun --client -n 4 node sum.mjs`. */

import { connect } from '@stci/client';

const stci = await connect();
const sum = await stci.allReduce(stci.rank + 1, (a, b) => a + b);
if (stci.rank === 0) console.log(`1 + … + ${stci.size} is ${sum}`);
stci.close();
