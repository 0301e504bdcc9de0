/**
 * `npm run bench -- [name…]`: runs all benches or the named ones. Each prints medians with the smallest and largest
 * value, and its ratio to a floor measured in the same run, in turns: figures of another machine, or of another day,
 * are not comparable. A missed goal is printed, and is no failure.
 */

import { print, printMachine } from './lib/print.mjs';

const NAMES = ['start', 'memory', 'run', 'output', 'forward', 'simulate'];
/** They take minutes and root, or write files: only run by name. */
const NAMED = ['launch', 'session', 'failure', 'costs', 'scaling'];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => ![...NAMES, ...NAMED].includes(name));
if (unknown.length > 0) {
  process.stderr.write(`bench: no bench ${unknown.join(', ')}; expected some of ${[...NAMES, ...NAMED].join(', ')}\n`);
  process.exit(2);
}

printMachine();
for (const name of asked.length > 0 ? asked : NAMES) {
  print(`\n${name}`);
  const { bench } = await import(`./${name}.mjs`);
  await bench();
}
