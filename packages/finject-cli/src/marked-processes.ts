/** Processes of a run, by a variable of their environment: the sessions, their agents, tools and what these started. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export const RUN_VARIABLE = 'STCI_EXPERIMENT';

/** Processes of this machine that this user may look at. `mark`: of one repeat, or the beginning of a run's. */
export function markedProcesses(mark: string): readonly number[] {
  const needle = `${RUN_VARIABLE}=${mark}`;
  return readdirSync('/proc').filter((name) => /^\d+$/u.test(name)).map(Number).filter((pid) => {
    try {
      if (pid === process.pid || isZombie(pid)) return false;
      const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      return variables.some((variable) => variable === needle || variable.startsWith(`${needle}.`));
    } catch {
      return false;
    }
  });
}

/** Whether it is in the PID namespace of this process; true where that is not known. */
export function isOfOwnSpace(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === readlinkSync('/proc/self/ns/pid');
  } catch {
    return true;
  }
}

/** The process's words, or what the kernel calls it; empty: it has ended. */
export function commandOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return words === '' ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : words;
  } catch {
    return '';
  }
}

function isZombie(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return /^[ZX]/u.test(stat.slice(stat.lastIndexOf(')') + 2));
}
