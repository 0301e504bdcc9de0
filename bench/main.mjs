/**
 * `npm run bench -- [name…]`: runs all benches or the named ones. Each prints medians with the smallest and largest
 * value, and its ratio to a floor measured in the same run, in turns: figures of another machine, or of another day,
 * are not comparable. A missed goal is printed, and is no failure. `failure` has parts:
 * `failure --part silent,several`.
 */

import { parseArgs } from 'node:util';
import { print, printMachine } from './lib/print.mjs';

const NAMES = ['start', 'memory', 'run', 'output', 'forward', 'simulate', 'plugin'];
/** Measurements that take minutes and root, or write files: they run by name only. */
const NAMED = ['client', 'mpi', 'launch', 'each', 'session', 'slurm', 'failure', 'costs', 'scaling'];

const ALL = [...NAMES, ...NAMED];

const options = { part: { type: 'string', multiple: true }, long: { type: 'boolean' } };

function refuse(problem) {
  process.stderr.write(`bench: ${problem}\n`);
  process.exit(2);
}

function parse() {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuse(error.message);
  }
}

/** Names and options; those of a bench that has none of them are refused. */
async function asked() {
  const { values, positionals } = parse();
  const unknown = positionals.filter((name) => !ALL.includes(name));
  if (unknown.length > 0) refuse(`no bench ${unknown.join(', ')}; expected some of ${ALL.join(', ')}`);
  if (Object.keys(values).length === 0) return { names: positionals, values: {} };
  if (positionals.join() !== 'failure') refuse('--part and --long are options of failure alone');
  const { parts } = await import('./failure.mjs');
  const part = values.part?.flatMap((text) => text.split(','));
  const wrong = part?.filter((name) => !parts.includes(name)) ?? [];
  if (wrong.length > 0) refuse(`failure has no part ${wrong.join(', ')}; expected some of ${parts.join(', ')}`);
  return { names: positionals, values: { ...values, ...(part && { part }) } };
}

const { names, values } = await asked();
printMachine();
for (const name of names.length > 0 ? names : NAMES) {
  print(`\n${name}`);
  const { bench } = await import(`./${name}.mjs`);
  await bench(values);
}
