/** stcirun's main. What help and version do not need is loaded later. */

import { join } from 'node:path';
import { parseCommandLine } from './cli/parse.js';
import { catchAll, reportFault } from './fault.js';
import { printOut } from './print.js';
import { VERSION } from './version.js';

const COMMAND = 'stcirun';

/** The agent's bundle lies beside this program's (both run as bundles only: CommonJS, so `__dirname` is there). */
const AGENT_MAIN = join(__dirname, 'agent.cjs');

async function main(argv: readonly string[]): Promise<number> {
  const line = await parseCommandLine(argv);
  if (line.kind === 'version') printOut(`${COMMAND} ${VERSION}\n`);
  else if (line.kind === 'help') printOut((await import('./cli/help.js')).helpText());
  else return (await import('./run/start.js')).startRun(line.request, AGENT_MAIN);
  return 0;
}

catchAll(COMMAND);
main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  (thrown: unknown) => process.exit(reportFault(COMMAND, thrown)),
);
