/** `npm run swarm`: explores seeds of simulated jobs, or replays one; see packages/swarm/README.md. */

import { USAGE, explore, parseArguments } from '../packages/swarm/dist/index.js';

const args = process.argv.slice(2);
try {
  if (args.includes('--help')) console.log(USAGE);
  else {
    const { failedSeeds } = explore(parseArguments(args), { print: console.log, nowMs: () => performance.now() });
    process.exitCode = failedSeeds.length === 0 ? 0 : 1;
  }
} catch (error) {
  if (error.code !== 'STCI_USAGE') throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
