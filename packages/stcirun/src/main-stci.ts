/** stci's main: finds the command, hands it its arguments. */

import { catchAll, reportFault } from './fault.js';
import { checkStandardStreams } from './output/closed-streams.js';
import { refuseDebugger } from './no-debugger.js';
import { printOut } from './print.js';
import { commandHelp, findCommand, groupHelp, overview } from './stci/commands.js';
import { SESSION_WORD } from './session/instruction.js';
import { VERSION } from './version.js';

const COMMAND = 'stci';

async function main(argv: readonly string[]): Promise<number> {
  checkStandardStreams();
  if (argv[0] === SESSION_WORD) return (await import('./session/session-main.js')).sessionMain(__dirname);
  const [first = 'help', ...rest] = argv;
  const asked = first === 'help' ? rest : argv;
  if (first === '--version' || first === '-V') printOut(`${COMMAND} ${VERSION}\n`);
  else if (isHelp(asked)) printOut(overview());
  else if (groupHelp(asked[0]) !== undefined && isHelp(asked.slice(1))) printOut(groupHelp(asked[0]) as string);
  else return runCommand(asked, first === 'help');
  return 0;
}

/** Nothing, or a wish for help. */
function isHelp(words: readonly string[]): boolean {
  return words.every((word) => word === '--help' || word === '-h');
}

async function runCommand(argv: readonly string[], help: boolean): Promise<number> {
  const found = findCommand(argv);
  if (help || found.rest.includes('--help') || found.rest.includes('-h')) {
    printOut(commandHelp(found));
    return 0;
  }
  // oclif is given all that it would otherwise search for on disk.
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
