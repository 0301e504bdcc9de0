/**
 * Replaces process.stdout and process.stderr by plain streams that write synchronously. Node creates its own on first
 * access and thereby makes a pipe non-blocking for all processes that share it. Libraries that test for a terminal, and
 * Node's sockets when they close, cause such an access.
 */

import { Writable } from 'node:stream';
import { isTerminal } from './descriptor.js';
import { printError, printOut } from './print.js';

const PRINT = { stdout: printOut, stderr: printError } as const;

type Name = keyof typeof PRINT;

const own = new Map<Name, PropertyDescriptor>();

/** Must be called before anything accesses the streams. */
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
