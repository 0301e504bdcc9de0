/**
 * Reads the files that a command line or a parameter names: always bounded in size and time, since the name may be
 * that of a device, or of a pipe without a writer.
 */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** How long a pipe may stay silent. */
const SILENCE_MS_MAX = 10_000;
const POLL_MS = 5;
const CHUNK_BYTES = 1 << 16;

/** Opens for reading without waiting for a pipe's writer and without taking a terminal over. */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** `-` and nothing else: standard input. */
export const STANDARD_INPUT = '-';

/** The text of a file, device or pipe. Throws Error; `readReason` gives its reason in plain words. */
export function readBounded(path: string, bytesMax: number): string {
  const fd = path === STANDARD_INPUT ? openStandardInput() : openSync(path, OPEN_FLAGS);
  try {
    return readDescriptor(fd, bytesMax, !/^(?:-|\/(?:dev|proc)\/.*)$/su.test(path));
  } finally {
    if (fd !== 0) closeSync(fd);
  }
}

/**
 * A description of its own, so that making it non-blocking changes nothing for others that share the pipe. A regular
 * file is read from its current offset.
 */
function openStandardInput(): number {
  if (fstatSync(0).isFile()) return 0;
  try {
    return openSync('/dev/stdin', OPEN_FLAGS);
  } catch {
    // A socket cannot be opened again.
    return 0;
  }
}

/** Reads from the current position to the end. `named`: a pipe reads as ended until its first writer comes. */
export function readDescriptor(fd: number, bytesMax: number, named = false): string {
  const stat = fstatSync(fd);
  if (stat.isDirectory()) throw new Error('it is a directory');
  const chunks: Buffer[] = [];
  let total = 0;
  let silentFromMs = performance.now();
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const count = readSome(fd, chunk);
    if (count !== undefined && count > 0) {
      chunks.push(chunk.subarray(0, count));
      total += count;
      if (total > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`);
      silentFromMs = performance.now();
      continue;
    }
    const isEnd = count === 0 && (total > 0 || !named || !stat.isFIFO());
    if (isEnd) return Buffer.concat(chunks).toString('utf8');
    const isLate = performance.now() - silentFromMs > SILENCE_MS_MAX;
    // A terminal has no deadline, since a person types there.
    if (isLate && !stat.isCharacterDevice()) throw new Error(`nothing came for ${SILENCE_MS_MAX / 1000} s`);
    pause();
  }
}

/** undefined: nothing is there yet. */
function readSome(fd: number, chunk: Buffer): number | undefined {
  try {
    return readSync(fd, chunk);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw thrown;
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
}

/** What to do about a named file that cannot be read. */
export function readRemedy(thrown: unknown): string {
  const { code } = thrown as NodeJS.ErrnoException;
  return code === 'EACCES' || code === 'EPERM' ? 'Ask its owner for the right to read it.' : 'Check the path.';
}

/** `no such file or directory`: Node's message without code, call and path. */
export function readReason(thrown: unknown): string {
  const { message, code } = thrown as NodeJS.ErrnoException;
  return code === undefined ? message : message.replace(/^[A-Z0-9]+: /u, '').replace(/, \w+(?: '.*')?$/su, '');
}
