/** The log of a session: its process and its agents append to it. */

import { closeSync, constants, fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { openOwn } from '@stci/platform-node';

export const LOG_FILE = 'log';
const LOG_BYTES_MAX = 1 << 20;

/** Beyond its bound only the latest half is kept, in whole lines. */
export function trimLog(path: string, bytesMax = LOG_BYTES_MAX): void {
  let fd: number | undefined;
  try {
    fd = openOwn(path, constants.O_RDWR);
    if (fstatSync(fd).size <= bytesMax) return;
    const rest = readEnd(fd, bytesMax >> 1);
    ftruncateSync(fd, 0);
    writeSync(fd, rest, rest.indexOf('\n') + 1, undefined, 0);
  } catch {
    // It was removed, or the disk is full.
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readEnd(fd: number, bytesMax: number): Buffer {
  const { size } = fstatSync(fd);
  const bytes = Buffer.alloc(Math.min(size, bytesMax));
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
}

/** The end of a log; empty where it cannot be read. */
export function logText(path: string): string {
  let fd: number | undefined;
  try {
    fd = openOwn(path, constants.O_RDONLY);
    return readEnd(fd, LOG_BYTES_MAX).toString();
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The error that a process of the session has printed there last; empty where there is none. */
export function loggedFault(path: string): string {
  return logText(path).match(/^stci: .*$/gmu)?.at(-1)?.slice('stci: '.length) ?? '';
}

/** How a session has ended, with what its log says. */
export function withFault(text: string, fault: string): string {
  return fault === '' ? text : `${text.replace(/\.$/u, '')}; the last error in its log: ${fault}`;
}
