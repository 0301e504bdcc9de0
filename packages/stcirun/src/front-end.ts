/** What a front-end of another package is made of: commands, their errors, sessions, specifications of jobs. */

export { runMain } from './command-main.js';
export { printError, printOut } from './print.js';
export { paramFlags, repeated, StciCommand, type StciCommandClass } from './stci/base.js';
export { CommandTable } from './stci/command-table.js';
export { VERSION } from './version.js';
