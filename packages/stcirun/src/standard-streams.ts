/**
 * Node makes process.stdout and process.stderr when somebody first asks for them, and with that makes a pipe
 * non-blocking for everybody who shares it. A library that looks whether they are terminals does so, and Node's own
 * sockets when they are closed. So plain streams stand in for them, which write at once and change nothing.
 */

import { Writable } from 'node:stream';
import { isTerminal } from './output/descriptor.js';
import { printError, printOut } from './print.js';

const PRINT = { stdout: printOut, stderr: printError } as const;

type Name = keyof typeof PRINT;

const own = new Map<Name, PropertyDescriptor>();

/** Called before anything can ask for the streams. */
export function replaceStandardStreams(): void {
  replace('stdout', 1);
  replace('stderr', 2);
}

/** Node's own stream; for descriptors that nothing else can write without blocking. */
export function nodeStream(name: Name): NodeJS.WriteStream {
  const found = own.get(name);
  return found === undefined ? process[name] : found.get?.call(process);
}

function replace(name: Name, fd: 1 | 2): void {
  if (isTerminal(fd)) return;
  own.set(name, Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor);
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _encoding, done) => {
      PRINT[name](String(text));
      done();
    },
  });
  const value = Object.assign(stream, { fd, isTTY: false });
  Object.defineProperty(process, name, { configurable: true, enumerable: true, value });
}
