/** Runs a program to its end and measures the time. */

import { spawn } from 'node:child_process';
import { cleanEnvironment, stcirun } from './place.mjs';

/**
 * Wall time in ms from spawn to exit, of stcirun as users start it, another script of Node, or `program`. Rejects if it
 * fails. Calls `started` with its process id.
 */
export function timed(args, { program = process.execPath, stdout = 'ignore', started = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const sinceMs = performance.now();
    const stdio = ['ignore', stdout, 'inherit'];
    const [command, ...words] = program === process.execPath && args[0] === stcirun ? args : [program, ...args];
    const child = spawn(command, words, { stdio, env: cleanEnvironment() });
    child.on('error', reject);
    child.on('exit', (status, signal) => {
      const wallMs = performance.now() - sinceMs;
      if (status === 0) resolve(wallMs);
      else reject(new Error(`${args.join(' ')} ended with ${signal ?? status}`));
    });
    started(child.pid);
  });
}
