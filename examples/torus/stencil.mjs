/**
 * Heat on a torus: each rank is one cell, and all heat is in the first. In every step a cell becomes the mean of itself
 * and its neighbours, whose values it gets by messages. Rank 0 computes the same alone and compares to the last bit.
 *
 *     stcirun --client --plugin examples/torus --launcher local --host a:4,b:4 -n 8 node examples/torus/stencil.mjs
 *
 * Arguments: the number of steps (20), the topology (torus).
 */

import { connect } from '@stci/client';

const [steps = '20', topology = 'torus'] = process.argv.slice(2);
const stci = await connect();

/** Neighbours come in ascending order, so that sums are made in the same order everywhere. */
const mean = (own, others) => others.reduce((all, each) => all + each, own) / (others.length + 1);

const { neighbours } = await stci.topology(topology);
let value = stci.rank === 0 ? stci.size : 0;
for (let step = 0; step < Number(steps); step++) {
  const tag = `step${step}`;
  const sent = neighbours.map((other) => stci.send(other, value, { tag }));
  const received = await Promise.all(neighbours.map((from) => stci.receive({ from, tag })));
  await Promise.all(sent);
  value = mean(value, received.map((message) => message.value));
}

const cells = await stci.gather(value);
const total = await stci.allReduce(value, (left, right) => left + right);
if (cells !== undefined) {
  const isEqual = (await serial()).every((cell, rank) => cell === cells[rank]);
  const spread = Math.max(...cells) - Math.min(...cells);
  console.log(`${stci.size} cells, ${neighbours.length} neighbours each, ${steps} steps: heat ${total.toFixed(9)}, `
    + `spread ${spread.toExponential(3)}, ${isEqual ? 'equal to' : 'DIFFERENT FROM'} the serial result`);
  process.exitCode = isEqual ? 0 : 1;
}
stci.close();

async function serial() {
  const places = [];
  for (let position = 0; position < stci.size; position++) places.push(await stci.topology(topology, { position }));
  let now = places.map((_, position) => (position === 0 ? stci.size : 0));
  for (let step = 0; step < Number(steps); step++) {
    now = places.map((place, position) => mean(now[position], place.neighbours.map((other) => now[other])));
  }
  return now;
}
