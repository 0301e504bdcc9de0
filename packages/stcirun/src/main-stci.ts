/** stci's main: finds the command, hands it its arguments. */

import { catchAll, reportFault } from './fault.js';
import { refuseDebugger } from './no-debugger.js';
import { printOut } from './print.js';
import { commandHelp, findCommand, overview } from './stci/commands.js';
import { VERSION } from './version.js';

const COMMAND = 'stci';

async function main(argv: readonly string[]): Promise<number> {
  const [first = 'help', ...rest] = argv;
  const asked = first === 'help' ? rest : argv;
  if (first === '--version' || first === '-V') printOut(`${COMMAND} ${VERSION}\n`);
  else if (asked.length === 0 || asked[0] === '--help' || asked[0] === '-h') printOut(overview());
  else return runCommand(asked, first === 'help');
  return 0;
}

async function runCommand(argv: readonly string[], help: boolean): Promise<number> {
  const found = findCommand(argv);
  if (help || found.rest.includes('--help') || found.rest.includes('-h')) {
    printOut(commandHelp(found));
    return 0;
  }
  // oclif is told all that it would otherwise look for on the disk.
  const pjson = { name: '@stci/stcirun', version: VERSION, oclif: { bin: COMMAND } };
  const Command = found.command as unknown as { run(argv: string[], options: object): Promise<unknown> };
  const exitCode = await Command.run([...found.rest], { root: __dirname, pjson });
  return typeof exitCode === 'number' ? exitCode : 0;
}

refuseDebugger();
catchAll(COMMAND);
main(process.argv.slice(2)).then(
  (exitCode) => process.exit(exitCode),
  (thrown: unknown) => process.exit(reportFault(COMMAND, thrown)),
);
