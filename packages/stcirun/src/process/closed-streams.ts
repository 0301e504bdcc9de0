/**
 * Standard streams that the caller has closed (`stcirun … >&-`). Node opens /dev/null in their place before stcirun's
 * code runs, so output would be lost silently. bin/stcirun.cjs, run as a program, is a shell first and sees what is
 * closed; where Node is started directly, the parent shell's descriptors show it.
 */

import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { StciError } from '@stci/interface';

/** Digits of the closed descriptors; `none`: the shell has looked, and there are none. */
const VARIABLE = 'STCI_CLOSED_STREAMS';

const SHELLS = new Set(['sh', 'dash', 'bash', 'zsh', 'ksh', 'mksh', 'fish', 'busybox']);

/** A redirection to /dev/null by a shell can only be written to. */
const READ_AND_WRITE = 2;

/** Throws STCI_OUTPUT_FAILED where output of ranks would be lost. Takes the variable away. */
export function checkStandardStreams(): void {
  const known = process.env[VARIABLE];
  delete process.env[VARIABLE];
  for (const [fd, name] of [[1, 'output'], [2, 'error']] as const) {
    if (known === undefined ? !isNodesOwn(fd) : !known.includes(String(fd))) continue;
    const remedy = `Use ${fd === 1 ? '' : fd}>/dev/null to drop it.`;
    throw new StciError('STCI_OUTPUT_FAILED', `Standard ${name} is closed: output would be lost. ${remedy}`);
  }
}

function isNodesOwn(fd: 1 | 2): boolean {
  try {
    if (!isOpenNull('self', fd)) return false;
    const isShell = SHELLS.has(readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim());
    // Some shells close their own while they wait.
    const isHandedOn = existsSync(`/proc/${process.ppid}/fd/${fd}`) && isOpenNull(process.ppid, fd);
    return isShell && !isHandedOn;
  } catch {
    return false;
  }
}

function isOpenNull(pid: number | 'self', fd: number): boolean {
  if (readlinkSync(`/proc/${pid}/fd/${fd}`) !== '/dev/null') return false;
  const flags = /^flags:\s+(\d+)$/mu.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0';
  return (Number.parseInt(flags, 8) & 3) === READ_AND_WRITE;
}
