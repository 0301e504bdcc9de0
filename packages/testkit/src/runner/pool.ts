/**
 * Runs test files a few at a time: as many as there are cores, and one more whenever a core is idle, since many files
 * wait for processes more than they compute.
 */

import { availableParallelism, cpus } from 'node:os';

const LOOK_EVERY_MS = 500;
const IDLE_CORES_MIN = 0.5;
/** At most so many more than cores on a small machine, where a few files that wait leave all cores idle. */
const MORE_MIN = 4;

export interface PoolOptions {
  /** Run at a time, whatever the machine does. */
  readonly jobs: number;
  /** Run at a time at most, while cores are idle. */
  readonly jobsMax: number;
  /** How many cores were idle since it was asked last. */
  readonly idleCores?: () => number;
  readonly lookEveryMs?: number;
  /** True once no item is to be started any more. */
  readonly isStopped?: () => boolean;
}

/** `--jobs N` is exact; without it the machine decides. */
export function poolOptions(jobs: number | undefined): PoolOptions {
  if (jobs !== undefined) return { jobs, jobsMax: jobs };
  const cores = Math.max(2, availableParallelism());
  return { jobs: cores, jobsMax: cores + Math.max(cores, MORE_MIN) };
}

/** How many files share a core at worst, at least 1: so much longer than by itself may a test take. */
export function filesPerCore({ jobsMax }: PoolOptions, cores = availableParallelism()): number {
  return Math.max(1, jobsMax / cores);
}

/** Takes the items in order; resolves when all that were started have run, rejects when a run does. */
export async function runPool<Item extends object>(
  items: readonly Item[],
  options: PoolOptions,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const { jobs, jobsMax, idleCores = idleCoresOfMachine(), lookEveryMs = LOOK_EVERY_MS } = options;
  const { isStopped = () => false } = options;
  const waiting = [...items];
  let running = 0;
  let hasFailed = false;
  let look: NodeJS.Timeout | undefined;
  const all = new Promise<void>((resolve, reject) => {
    const start = (): void => {
      const item = hasFailed || isStopped() ? undefined : waiting.shift();
      if (item === undefined) return;
      running += 1;
      run(item).then(() => {
        running -= 1;
        if (running < jobs) start();
        if (running === 0) resolve();
      }).catch((error: unknown) => {
        hasFailed = true;
        reject(error as Error);
      });
    };
    for (let i = 0; i < jobs; i += 1) start();
    if (running === 0) resolve();
    look = setInterval(() => {
      if (idleCores() >= IDLE_CORES_MIN && running < jobsMax) start();
    }, lookEveryMs);
  });
  await all.finally(() => clearInterval(look));
}

function idleCoresOfMachine(): () => number {
  const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0);
  let before = { idleMs: idleMs(), atMs: performance.now() };
  return () => {
    const now = { idleMs: idleMs(), atMs: performance.now() };
    const cores = (now.idleMs - before.idleMs) / (now.atMs - before.atMs);
    before = now;
    return cores;
  };
}
