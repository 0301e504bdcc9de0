/**
 * Ends the process. Node's exit waits for the threads of its pool, and a write to a file system that hangs never
 * returns: in that case the process kills itself, after all messages have been written.
 */

let underWay = 0;

/** Tracks an operation on a file system that may hang. */
export async function fileWork<T>(work: Promise<T>): Promise<T> {
  underWay += 1;
  try {
    return await work;
  } finally {
    underWay -= 1;
  }
}

export function leave(exitCode: number): never {
  if (underWay > 0) process.kill(process.pid, 'SIGKILL');
  process.exit(exitCode);
}
