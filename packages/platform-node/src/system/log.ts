/**
 * Log on standard error, one line per call, written at once so that it is not lost in a crash. A log that cannot be
 * written must never end an agent: a closed or full standard error drops lines silently.
 */

import { printable, type Log, type LogLevel } from '@stci/interface';
import { builtin } from './builtin.js';
import { isMainThread } from './main-thread.js';

const LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];

/** Longest line, in characters; the rest is cut: a log line is not for bulk data. */
const LINE_CHARS_MAX = 8192;

/** Writes one whole line to file descriptor 2; a worker thread has a standard error of its own. */
function writeLine(line: string): void {
  try {
    if (isMainThread) builtin('node:fs').writeSync(2, line);
    else process.stderr.write(line);
  } catch {
    // EPIPE, EAGAIN, EBADF: there is no reader to report it to.
  }
}

/** Writes entries of at least the severity `level`. `write` takes a line with its newline; default: standard error. */
export function createLog(level: LogLevel, write: (line: string) => void = writeLine): Log {
  const rank = LEVELS.indexOf(level);
  return {
    level,
    write: (at, text) => {
      if (LEVELS.indexOf(at) > rank) return;
      const line = text.length > LINE_CHARS_MAX ? `${text.slice(0, LINE_CHARS_MAX)}…` : text;
      write(`stci ${at}: ${printable(line.replaceAll(/\r?\n/g, '\\n'))}\n`);
    },
  };
}
