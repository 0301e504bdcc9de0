/**
 * No debugger by signal. Whoever sends SIGUSR1 to a process of Node makes it listen on loopback for a debugger, which
 * every user of the host may be: batch systems send that signal to all processes of a job. With a handler Node leaves
 * the signal alone. (Who wants to debug says so: `node --inspect`.)
 */

export function refuseDebugger(): void {
  process.on('SIGUSR1', () => undefined);
}
