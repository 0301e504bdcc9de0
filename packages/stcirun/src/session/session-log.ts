/** The log of a session: its process and its agents append to it. */

import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

const LOG_BYTES_MAX = 1 << 20;

/** Beyond its bound only the latest half is kept, in whole lines. */
export function trimLog(path: string, bytesMax = LOG_BYTES_MAX): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r+');
    const { size } = fstatSync(fd);
    if (size <= bytesMax) return;
    const kept = Buffer.alloc(bytesMax >> 1);
    const rest = kept.subarray(0, readSync(fd, kept, 0, kept.length, size - kept.length));
    ftruncateSync(fd, 0);
    writeSync(fd, rest, rest.indexOf('\n') + 1, undefined, 0);
  } catch {
    // It was removed, or the disk is full.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The error that a process of the session has printed there last; empty where there is none. */
export function loggedFault(path: string): string {
  try {
    return readFileSync(path, 'utf8').match(/^stci: .*$/gmu)?.at(-1)?.slice('stci: '.length) ?? '';
  } catch {
    return '';
  }
}

/** How a session has ended, with what its log says. */
export function withFault(text: string, fault: string): string {
  return fault === '' ? text : `${text.replace(/\.$/u, '')}; the last error in its log: ${fault}`;
}
