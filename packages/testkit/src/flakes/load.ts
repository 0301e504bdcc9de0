/** Load: a process for each core that computes all the time, and ends with whoever started it, in whatever way. */

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Standard input of the process ends when its starter does, or ends it; it looks every 50 ms. */
const SPIN = `process.stdin.on('end', () => process.exit()).resume();
const spin = () => {
  const endMs = performance.now() + 50;
  while (performance.now() < endMs);
  setImmediate(spin);
};
spin();`;

export interface Load {
  readonly pids: readonly number[];
  /** Resolves when all have ended. */
  end(): Promise<void>;
}

export function startLoad(count = availableParallelism()): Load {
  const spinners = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', SPIN], { stdio: ['pipe', 'ignore', 'ignore'] }));
  const over = spinners.map((child) => new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  }));
  return {
    pids: spinners.flatMap(({ pid }) => pid ?? []),
    end: async () => {
      for (const child of spinners) child.kill('SIGKILL');
      await Promise.all(over);
    },
  };
}
