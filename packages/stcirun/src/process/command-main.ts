/** What the mains of programs of several commands have in common: errors, the exit code. */

import { checkStandardStreams } from './closed-streams.js';
import { catchAll, reportFault } from './fault.js';
import { refuseDebugger } from './no-debugger.js';

/** Ends the process with the exit code that `main` resolves with, or that of its error, which is printed. */
export function runMain(command: string, main: (argv: readonly string[]) => Promise<number>): void {
  refuseDebugger();
  catchAll(command);
  const run = async (): Promise<number> => {
    checkStandardStreams();
    return main(process.argv.slice(2));
  };
  run().then(
    (exitCode) => process.exit(exitCode),
    (thrown: unknown) => process.exit(reportFault(command, thrown)),
  );
}
