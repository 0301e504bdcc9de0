/**
 * Ends the process. Node's exit waits for the threads of its pool, and a write to a file system that hangs never
 * returns: in that case the process kills itself, after all messages have been written.
 */

/** Time that writes which are under way have before they are taken for hanging. */
const HANGING_MS = 1000;

let underWay = 0;
let onIdle: () => void = () => undefined;

/** Tracks an operation of the thread pool on a file system that may hang. */
export async function fileWork<T>(work: Promise<T>): Promise<T> {
  underWay += 1;
  try {
    return await work;
  } finally {
    underWay -= 1;
    if (underWay === 0) onIdle();
  }
}

export function leave(exitCode: number): void {
  onIdle = () => process.exit(exitCode);
  if (underWay === 0) onIdle();
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), HANGING_MS);
}
