/**
 * Processes of test hosts, read from /proc. They are found by their network namespace, not by recorded pids, so daemons
 * and orphans are included.
 */

import { readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { eventually } from '@stci/compliance/deadline';

export interface Process {
  /** In this process's pid namespace. */
  readonly pid: number;
  /** In the host's: 1 is its init. Equal to `pid` outside a host's process tree. */
  readonly hostPid: number;
  readonly command: string;
}

interface Found extends Process {
  /** Number of pid namespaces below ours: 0 is the same. */
  readonly depth: number;
  readonly zombie: boolean;
}

/** The inode of a named network namespace, which identifies it. undefined if there is none. */
export function netnsInode(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** All processes in the namespace except zombies. */
export function processesIn(netns: number | undefined): Process[] {
  return scan(new Set([netns ?? -1])).filter(({ zombie }) => !zombie).map(plain);
}

/** The host's own process tree, its init first. */
export function hostTree(netns: number | undefined): Process[] {
  const found = scan(new Set([netns ?? -1])).filter(({ depth, zombie }) => depth > 0 && !zombie);
  return found.sort((a, b) => a.hostPid - b.hostPid).map(plain);
}

/** Sends SIGKILL to all in the namespaces, repeatedly until none is left. Rejects at the deadline. */
export async function killAllIn(netns: ReadonlySet<number>, deadlineMs: number): Promise<void> {
  if (netns.size === 0) return;
  await eventually(() => {
    const left = scan(netns).filter(({ pid }) => pid !== process.pid);
    for (const { pid, zombie } of left) if (!zombie) signal(pid, 'SIGKILL');
    return left.every(({ zombie }) => zombie);
  }, { deadlineMs, what: 'the end of all processes of the test hosts' });
}

/** Sends a signal; false if the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** Start time in the kernel's ticks: with the pid, it identifies a process. undefined when it has ended. */
export function startTicks(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function plain({ pid, hostPid, command }: Found): Process {
  return { pid, hostPid, command };
}

function scan(netns: ReadonlySet<number>): Found[] {
  const found: Found[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const inode = Number(/\d+/.exec(readlinkSync(`/proc/${entry}/ns/net`))?.[0]);
      if (netns.has(inode)) found.push(read(entry));
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found;
}

function read(entry: string): Found {
  const status = readFileSync(`/proc/${entry}/status`, 'utf8');
  const pids = (/^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? entry).split(/\s+/).map(Number);
  const name = /^Name:\s*(.*)$/m.exec(status)?.[1] ?? '';
  const argv = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0').join(' ').trim();
  return {
    pid: Number(entry),
    hostPid: pids[1] ?? Number(entry),
    command: argv === '' ? `[${name}]` : argv,
    depth: pids.length - 1,
    zombie: /^State:\s*Z/m.test(status),
  };
}
