/**
 * Short texts of the programs themselves, written synchronously: help, versions, plans, errors before a job runs. A
 * reader that has gone (`stcirun --help | head -1`) causes an exit code without a message; text that cannot be written
 * is an error. Control characters in text of others are escaped.
 */

import { writeSync } from 'node:fs';
import { printable } from '@stci/interface';
import { outputError } from './output-error.js';

const RETRY_MS = 5;

/** `head` is written as it is. Throws STCI_OUTPUT_FAILED or STCI_OUTPUT_CLOSED. */
export function printOut(text: string, head = ''): void {
  const error = print(1, text, head);
  if (error !== undefined) throw outputError('standard output', error);
}

/** The name of something that was started, and runs on: told on standard error where standard output cannot be. */
export function printStarted(command: string, what: string, name: string): void {
  const error = print(1, `${name}\n`);
  if (error === undefined) return;
  printError(`${command}: started ${what} ${name}, which goes on\n`);
  throw outputError('standard output', error);
}

/** A value as indented JSON. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** As `printOut`, without an error. */
export function printError(text: string, head = ''): void {
  print(2, text, head);
}

/** The error that ended it. */
function print(fd: number, text: string, head = ''): NodeJS.ErrnoException | undefined {
  let rest = Buffer.from(head + printable(text));
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (thrown) {
      const error = thrown as NodeJS.ErrnoException;
      if (error.code !== 'EAGAIN') return error;
      // A pipe that another program made non-blocking is full: wait a moment.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
  return undefined;
}
