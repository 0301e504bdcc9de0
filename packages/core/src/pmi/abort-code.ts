/** Libraries abort with any integer; a process has a status of 8 bits. */

/** Exit code of a job that was aborted with this: never 0. */
export function abortCode(status: number): number {
  return (status & 0xff) || 1;
}
