/**
 * Short texts of our own, written at once: help, versions, plans, errors before a job runs. A reader that has
 * gone (`stcirun --help | head -1`) is not an error. Control characters in quoted text are escaped.
 */

import { writeSync } from 'node:fs';
import { printable } from '@stci/interface';

const RETRY_MS = 5;

export function printOut(text: string): void {
  print(1, text);
}

/** `head` is written as it is. */
export function printError(text: string, head = ''): void {
  print(2, text, head);
}

function print(fd: number, text: string, head = ''): void {
  let rest = Buffer.from(head + printable(text));
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      // A pipe that another program made non-blocking is full: wait a moment.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}
