/**
 * What plugins print, on the console or on the standard streams: lines on standard error that name the plugin. An
 * agent's standard output is its link, a command's is for what the user asked for; neither is a plugin's.
 */

import { Console } from 'node:console';
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { printable } from '@stci/interface';

/** The rest of a line without an end is printed in parts of so many characters. */
const LINE_CHARS_MAX = 4096;

function writeLine(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // There is no reader to report it to.
  }
}

/** `nameOf`: who prints; empty: nobody is found. */
function namedLines(nameOf: () => string, write: (line: string) => unknown): Writable {
  let rest = '';
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      const name = nameOf();
      const lines = (rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LINE_CHARS_MAX) {
        lines.push(rest);
        rest = '';
      }
      for (const line of lines) write(`${name === '' ? '' : `${name}: `}${printable(line)}\n`);
      done();
    },
  });
}

/** The console of this process, or thread, from now on; of an agent the streams as well, which its channel has. */
export function namePrints(nameOf: () => string, isAgent: boolean): void {
  // A thread has a standard error of its own, which its log is written to.
  const { stderr } = process;
  const write = isMainThread ? writeLine : (line: string): unknown => stderr.write(line);
  const stream = namedLines(nameOf, write);
  for (const [key, value] of Object.entries(new Console({ stdout: stream, stderr: stream }))) {
    if (typeof value === 'function') Object.defineProperty(console, key, { value, configurable: true, writable: true });
  }
  if (!isAgent) return;
  for (const [fd, key] of [[1, 'stdout'], [2, 'stderr']] as const) {
    if (key === 'stderr' && !isMainThread) continue;
    const value = Object.assign(namedLines(nameOf, write), { fd });
    Object.defineProperty(process, key, { value, configurable: true, enumerable: true });
  }
}
