/** stcirun's main. What help and version do not need is loaded later. */

import { checkArguments } from './cli/bytes.js';
import { catchAll, colorErrors, findColorMode, reportFault } from './process/fault.js';
import { refuseDebugger } from './process/no-debugger.js';
import { takeIgnoresHangup } from './process/ignored-signals.js';
import { checkStandardStreams } from './process/closed-streams.js';
import { leave } from './process/leave.js';
import { printOut } from './process/print.js';
import { checkProcessLimit, RUN_THREADS } from './process/process-limit.js';
import { replaceStandardStreams } from './process/standard-streams.js';
import { VERSION } from './process/version.js';

const COMMAND = 'stcirun';

/** Period of a timer that keeps the process alive: the longest that Node allows. */
const AWAKE_MS = 2 ** 31 - 1;

async function main(argv: readonly string[]): Promise<number> {
  colorErrors(findColorMode(argv));
  checkStandardStreams();
  const ignoresHangup = takeIgnoresHangup();
  checkArguments(argv);
  const { parseCommandLine } = await import('./cli/parse.js');
  const line = await parseCommandLine(argv);
  if (line.kind === 'version') printOut(`${COMMAND} ${VERSION}\n`);
  else if (line.kind === 'help') {
    printOut((await import('./cli/help.js')).helpText());
    printOut(await (await import('./settings/plugin-help.js')).pluginHelp(line));
  }
  else {
    checkProcessLimit(COMMAND, RUN_THREADS);
    // The agent lies beside this program (both run as bundles only: CommonJS, so `__dirname` is there).
    return (await import('./run/start.js')).startRun(line, __dirname, ignoresHangup);
  }
  return 0;
}

replaceStandardStreams();
refuseDebugger();
catchAll(COMMAND);
// A run that only waits for a deadline has no open handles, and Node would end it with 0.
setInterval(() => undefined, AWAKE_MS);
main(process.argv.slice(2)).then(
  leave,
  (thrown: unknown) => process.exit(reportFault(COMMAND, thrown)),
);
