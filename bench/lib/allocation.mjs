/** An allocation of Slurm on test hosts. */

import { spawn } from 'node:child_process';
import { cleanEnvironment } from './place.mjs';

const DEADLINE_MS = 60_000;
/** No value of a variable is empty and followed by another one without a name. */
const END = '\0\0';

/**
 * All processors of `count` hosts, for `each` tasks on each of them, while `use(env)` is pending; `env`: the variables
 * that Slurm sets in a shell of the allocation.
 */
export async function inAllocation(hosts, count, each, use) {
  const shape = [`--nodes=${count}`, `--ntasks-per-node=${each}`, '--exclusive'];
  // The program ends with its input, and with it the allocation.
  const inside = ['sh', '-c', `env -0; printf '\\0'; cat`];
  const [program, ...args] = hosts.loginArgv(['salloc', '--quiet', ...shape, ...inside]);
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: cleanEnvironment() });
  const ended = new Promise((resolve) => child.on('close', resolve));
  try {
    return await use(await variables(child));
  } finally {
    child.stdin.end();
    await ended;
  }
}

function variables(child) {
  let text = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no allocation within ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
    child.on('close', (status) => reject(new Error(`salloc ended with ${status}`)));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (!text.endsWith(END)) return;
      clearTimeout(timer);
      const pairs = text.split('\0').map((pair) => [pair.split('=', 1)[0], pair.slice(pair.indexOf('=') + 1)]);
      resolve(Object.fromEntries(pairs.filter(([name]) => name.startsWith('SLURM'))));
    });
  });
}
