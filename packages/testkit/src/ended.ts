/** Processes that may have ended already, when a test ends them. */

/** Sends a signal to each that is there still; of a group, a negative number. */
export function killThose(pids: Iterable<number>, signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
    }
  }
}
