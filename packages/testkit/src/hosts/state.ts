/**
 * Recorded state of a set of hosts, and its owner. A set is kept (made from the command line, until `down`) or owned
 * (made by a process, usually a test, and useless once that process has ended). The state is written before anything
 * else of the set, so that after a crash it is known what to remove.
 */

import { spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDeadline } from '@stci/compliance/deadline';
import { HostsError, RUNTIME_DIRECTORY, SETS_MAX, placesOf } from './names.js';
import { startTicks } from './procs.js';
import type { SlurmOptions } from './slurm-options.js';

const LOCK_DEADLINE_MS = 30_000;

export interface SetState {
  readonly set: string;
  readonly subnet: number;
  readonly size: number;
  /** Host → its traits, as given. */
  readonly traits: Readonly<Record<string, readonly string[]>>;
  readonly kept: boolean;
  /** Only of a set with Slurm. */
  readonly slurm?: SlurmOptions;
  /** `making` until every host is up. */
  readonly phase: 'making' | 'up';
  readonly owner: { readonly pid: number; readonly startTicks: string };
  /** Boot id: of a set from before the last boot, only files are left. */
  readonly bootId: string;
}

/** Every recorded set by name; undefined for a directory without a readable state. */
export function readStates(): ReadonlyMap<string, SetState | undefined> {
  const states = new Map<string, SetState | undefined>();
  for (const entry of entries(RUNTIME_DIRECTORY)) states.set(entry, readState(entry));
  return states;
}

export function readState(set: string): SetState | undefined {
  try {
    return JSON.parse(readFileSync(placesOf(set).state, 'utf8')) as SetState;
  } catch {
    return undefined;
  }
}

/** Creates the set's directory with its state in one step; throws if it exists. */
export function createState(state: SetState): void {
  const { root } = placesOf(state.set);
  const draft = join(RUNTIME_DIRECTORY, `.${state.set}.new`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o755 });
  writeFileSync(join(draft, 'state.json'), JSON.stringify(state));
  renameSync(draft, root);
}

export function updateState(state: SetState): void {
  const { state: path } = placesOf(state.set);
  writeFileSync(`${path}.new`, JSON.stringify(state));
  renameSync(`${path}.new`, path);
}

/** True if the set is useless: its owner has ended, or its making was interrupted. */
export function isLeftover(state: SetState | undefined): boolean {
  if (state === undefined || state.bootId !== bootId()) return true;
  if (state.kept && state.phase === 'up') return false;
  return startTicks(state.owner.pid) !== state.owner.startTicks;
}

export function thisOwner(): SetState['owner'] {
  return { pid: process.pid, startTicks: startTicks(process.pid) ?? '' };
}

export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/** The lowest unused number of a set. */
export function freeSubnet(states: Iterable<SetState | undefined>): number {
  const taken = new Set([...states].map((state) => state?.subnet));
  const free = Array.from({ length: SETS_MAX }, (_, index) => index).find((index) => !taken.has(index));
  if (free !== undefined) return free;
  throw new HostsError(`there are ${SETS_MAX} sets of test hosts; take some down`);
}

/**
 * Runs `body` while no other process makes or removes sets. The lock is the kernel's, held by a child that ends with
 * its standard input: it is released however this process ends.
 */
export async function underLock<T>(body: () => Promise<T>): Promise<T> {
  makeRuntimeDirectory();
  const path = join(RUNTIME_DIRECTORY, '.lock');
  const holder = spawn('flock', ['--exclusive', path, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => holder.on('close', () => resolve()));
  const held = new Promise<void>((resolve, reject) => {
    holder.on('error', reject);
    holder.stdout.once('data', () => resolve());
    holder.on('close', () => reject(new HostsError(`cannot lock ${path}`)));
  });
  try {
    await withDeadline(held, LOCK_DEADLINE_MS, `the lock ${path}: another process makes or removes test hosts`);
    return await body();
  } finally {
    holder.stdin.destroy();
    holder.kill();
    await ended;
  }
}

/** Refuses a directory of another user: without root, its parent is writable for all users. */
function makeRuntimeDirectory(): void {
  mkdirSync(RUNTIME_DIRECTORY, { recursive: true, mode: 0o755 });
  const { uid, mode } = lstatSync(RUNTIME_DIRECTORY);
  if (uid === process.geteuid?.() && (mode & 0o170022) === 0o040000) return;
  throw new HostsError(`${RUNTIME_DIRECTORY} is not a directory of this user alone: remove it`);
}

/** Names in a directory except hidden ones; empty if there is no directory. */
export function entries(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
}
