/** Reports errors that end the program: one message, an exit code from the table, a stack with STCI_DEBUG=1. */

import { constants } from 'node:os';
import { EXIT, StciError } from '@stci/interface';
import { isColored, paintError, COLOR_MODES, type ColorMode } from './colors.js';
import { printError } from './print.js';

let colorMode: ColorMode = 'auto';

/** For errors before a job runs; afterwards its screen shows them. */
export function colorErrors(mode: ColorMode): void {
  colorMode = mode;
}

/** The first `--color` of a command line that is not parsed yet, and may be one that never is. */
export function findColorMode(argv: readonly string[]): ColorMode {
  const at = argv.findIndex((word) => /^--?color(?:=|$)/u.test(word));
  const [word = '--color=auto', next] = at < 0 ? [] : argv.slice(at);
  const [, value = COLOR_MODES.find((mode) => mode === next) ?? 'always'] = word.split('=');
  return COLOR_MODES.find((mode) => mode === value) ?? 'auto';
}

let attribute = (thrown: unknown): unknown => thrown;

/** Finds the error of a plugin in what is thrown; where there are plugins. */
export function attributeFaults(by: (thrown: unknown) => unknown): void {
  attribute = by;
}

let endBy: ((fault: StciError) => void) | undefined;

/** What a plugin's fault does instead of ending the process at once: it is printed, and `end` ends the process. */
export function endByFault(end: (fault: StciError) => void): void {
  endBy = end;
}

function stacksOf(thrown: unknown): string {
  return thrown instanceof Error ? `${thrown.stack}\n${stacksOf(thrown.cause)}` : '';
}

/** Prints the error and returns the exit code. */
export function reportFault(command: string, what: unknown): number {
  const thrown = attribute(what);
  const debug = process.env['STCI_DEBUG'] === '1' ? stacksOf(thrown) : '';
  if (thrown instanceof StciError && thrown.code === 'STCI_OUTPUT_CLOSED') return thrown.exitCode;
  const head = isColored(colorMode, 2) ? paintError(`${command}:`) : `${command}:`;
  if (thrown instanceof StciError) {
    printError(` ${thrown.message}\n${debug}`, head);
    return interruptCode(thrown) ?? thrown.exitCode;
  }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  const hint = debug === '' ? ' Run it with STCI_DEBUG=1 to see where.' : '';
  printError(` internal error: ${message}.${hint}\n${debug}`, head);
  return EXIT.internal;
}

/** 128 + the number of the signal that its user has ended it by. */
function interruptCode({ code, data: { signal } }: StciError): number | undefined {
  return code === 'STCI_JOB_INTERRUPTED' && isSignal(signal) ? 128 + constants.signals[signal] : undefined;
}

function isSignal(name: unknown): name is NodeJS.Signals {
  return typeof name === 'string' && Object.hasOwn(constants.signals, name);
}

/** Errors that are thrown later end the program in the same way. */
export function catchAll(command: string): void {
  const end = (what: unknown): void => {
    const thrown = attribute(what);
    const exitCode = reportFault(command, thrown);
    const isPlugins = thrown instanceof StciError && thrown.code === 'STCI_PLUGIN_FAILED';
    if (isPlugins && endBy !== undefined) endBy(thrown);
    else process.exit(exitCode);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
