/**
 * Keeps SIGUSR1 from starting Node's debugger. By default Node then listens on loopback, where every user of the host
 * can connect, and batch systems send that signal to all processes of a job. A handler for the signal disables this.
 * `node --inspect` still starts the debugger.
 */

export function refuseDebugger(): void {
  process.on('SIGUSR1', () => undefined);
}
