/** `npm run swarm`: explores seeds of simulated jobs, or replays one; see packages/swarm/README.md. */

import { explore, parseArguments } from '../packages/swarm/dist/index.js';

try {
  const plan = parseArguments(process.argv.slice(2));
  const { failedSeeds } = explore(plan, { print: (line) => console.log(line), nowMs: () => performance.now() });
  process.exitCode = failedSeeds.length === 0 ? 0 : 1;
} catch (error) {
  if (error.code !== 'STCI_USAGE') throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
