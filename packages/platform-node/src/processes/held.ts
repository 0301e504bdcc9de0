/** Descriptors that the shell which became this process opened for it; start-script.ts lists them in order. */

import { builtin } from '../system/builtin.js';
import type { PipeEnds } from './pipe-maker.js';

/** A guardian that was forked before Node started. */
export interface HeldGuardian {
  readonly pid: number;
  /** Writing end of its input. */
  readonly inputFd: number;
  /** Reading end of a pipe that ends when the guardian does. */
  readonly lifeFd: number;
}

export interface Held {
  readonly guardian: HeldGuardian;
  readonly pipes: readonly PipeEnds[];
}

/** Returns undefined if nothing was opened, or a descriptor is not what it should be. */
export function takeOverHeld(text: string | undefined): Held | undefined {
  if (text === undefined || !/^\d+( \d+){2,}$/.test(text)) return undefined;
  const [inputFd, lifeFd, pid, ...pipeFds] = text.split(' ').map(Number) as [number, number, number, ...number[]];
  if (![inputFd, lifeFd, ...pipeFds].every(isPipe)) return undefined;
  return { guardian: { pid, inputFd, lifeFd }, pipes: pipeFds.flatMap(bothEnds) };
}

function isPipe(fd: number): boolean {
  try {
    return builtin('node:fs').fstatSync(fd).isFIFO();
  } catch {
    return false;
  }
}

function bothEnds(readFd: number): PipeEnds[] {
  const { constants, openSync, closeSync } = builtin('node:fs');
  try {
    return [{ readFd, writeFd: openSync(`/proc/self/fd/${readFd}`, constants.O_WRONLY) }];
  } catch {
    closeSync(readFd);
    return [];
  }
}
