/** What a descriptor leads to. */

import { fstatSync, type Stats } from 'node:fs';

/** A terminal's major device number is 136..143 (pty), 4 (tty) or 5 (console). Cheaper than loading node:tty. */
export function isTerminal(fd: number): boolean {
  const stats = statOf(fd);
  if (stats === undefined || !stats.isCharacterDevice()) return false;
  const major = (stats.rdev >> 8) & 0xfff;
  return major === 4 || major === 5 || (major >= 136 && major <= 143);
}

export function isStream(fd: number): boolean {
  const stats = statOf(fd);
  return stats !== undefined && (stats.isFIFO() || stats.isSocket() || isTerminal(fd));
}

export function isSamePlace(one: number, other: number): boolean {
  const a = statOf(one);
  const b = statOf(other);
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

export function isPipe(fd: number): boolean {
  return statOf(fd)?.isFIFO() === true;
}

/** undefined: it is closed. */
function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch {
    return undefined;
  }
}
