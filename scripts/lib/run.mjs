/**
 * Runs other programs for the scripts: in the repository's root, with their output shown, ending at the first failure.
 */

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** `pnpm@VERSION`, from package.json. */
export const PNPM = packageManager;

/** Runs a program; returns its exit code (128 + signal's number is left to the shell: 1 here). */
export function status(program, args) {
  const { status: code, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (error !== undefined) console.error(`error: cannot run ${program}: ${error.message}`);
  return code ?? 1;
}

/** Starts a program; resolves to its exit code, as `status` does. */
export function begin(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', (error) => {
      console.error(`error: cannot run ${program}: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Runs a program; ends this script with its exit code if that is not 0. */
export function run(program, args) {
  const code = status(program, args);
  if (code === 0) return;
  console.error(`error: ${[program, ...args].join(' ')} ended with exit code ${code}`);
  process.exit(code);
}

/** Runs a script of the workspace with this Node. */
export function node(script, args) {
  run(process.execPath, [join(root, script), ...args]);
}
