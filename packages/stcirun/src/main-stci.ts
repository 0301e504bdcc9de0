/** stci's main: finds the command, hands it its arguments. */

import { runMain } from './process/command-main.js';
import { STCI } from './stci/commands.js';
import { SESSION_WORD } from './session/instruction.js';

runMain('stci', async (argv) => {
  if (argv[0] === SESSION_WORD) return (await import('./session/session-main.js')).sessionMain(__dirname);
  return STCI.run(argv, __dirname);
});
