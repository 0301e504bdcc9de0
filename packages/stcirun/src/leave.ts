/**
 * The end of the process. Node waits for the threads of its pool, and one that writes to a file system that hangs never
 * comes back: then the process is killed, once all that can be told has been told.
 */

let underWay = 0;

/** Work of a file system that may hang. */
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
