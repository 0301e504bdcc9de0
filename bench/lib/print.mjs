/** The first lines that each bench prints, and its tables. */

import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

const MIB = 1024 * 1024;

export function printMachine() {
  const [cpu] = cpus();
  const memory = `${(totalmem() / MIB / 1024).toFixed(0)} GiB`;
  const cores = `${availableParallelism()} cores (${cpu?.model.trim() ?? 'unknown'})`;
  print(`node ${process.version} · ${cores} · ${memory} · load ${loadavg()[0].toFixed(1)}`);
}

export function print(line) {
  process.stdout.write(`${line}\n`);
}

/** Prints a goal and whether it was met. */
export function printGoal(what, value, goal, atLeast = false) {
  const met = atLeast ? value >= goal : value <= goal;
  print(`  ${met ? 'met   ' : 'MISSED'} ${what}: ${value.toFixed(2)}, goal ${atLeast ? '>=' : '<='} ${goal}`);
}

export const mib = (bytes) => bytes / MIB;
