/**
 * The holder of a set's user namespace, if there is one (privilege.ts): an idle process that keeps the namespaces. Also
 * starts such daemons: in a session of their own, inheriting only the environment of this process.
 */

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eventually } from '@stci/compliance/deadline';
import { tail } from './exec.js';
import type { Argv } from './exec.js';
import { HostsError, placesOf } from './names.js';
import { HOLDER, isRoot } from './privilege.js';
import { signal } from './procs.js';
import { HOLD } from './scripts.js';

const START_DEADLINE_MS = 10_000;

/** Rejects with the kernel's reason if this user may not create namespaces. */
export async function startHolder(set: string): Promise<void> {
  if (isRoot) return;
  const { root } = placesOf(set);
  const namespaces = ['--user', '--map-root-user', '--mount', '--net'];
  startDaemon(root, HOLDER, ['unshare', ...namespaces, 'bash', '-c', HOLD, 'stci-hosts', set, root]);
  const ready = (): boolean => existsSync(join(root, HOLDER));
  await eventually(ready, { deadlineMs: START_DEADLINE_MS, what: 'the user namespace' }).catch(() => {
    const words = tail(readFileSync(join(root, `${HOLDER}.log`), 'utf8'));
    throw new HostsError(`no user namespace: ${words || 'no word of it'}`);
  });
}

/** Ends it, and with it the names of the set's network namespaces. No error if there is none. */
export async function endHolder(set: string, deadlineMs: number): Promise<void> {
  const pid = holderPid(set);
  if (pid === undefined) return;
  signal(pid, 'SIGKILL');
  await eventually(() => holderPid(set) === undefined, { deadlineMs, what: 'the end of the holder' });
}

/** undefined if none runs; the pid alone may have been reused. */
function holderPid(set: string): number | undefined {
  try {
    const link = readlinkSync(join(placesOf(set).root, HOLDER));
    const command = readFileSync(join(link, 'cmdline'), 'utf8');
    return command.startsWith(`stci-hosts:${set}\0`) ? Number(basename(link)) : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a daemon that writes to ROOT/NAME.log. */
export function startDaemon(root: string, name: string, [file, ...args]: Argv): void {
  const log = openSync(join(root, `${name}.log`), 'a');
  const child = spawn(file, args, { cwd: '/', detached: true, stdio: ['ignore', log, log] });
  child.on('error', () => undefined);
  child.unref();
  closeSync(log);
}
