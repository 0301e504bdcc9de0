/**
 * Directories of runs, and which process makes each: its id and start time, so that a later process with the same id is
 * not taken for it. Beside the user's sessions there is an entry for each run that goes on, so that `finject abort`
 * finds them; files of other users are not read.
 */

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { StciError } from '@stci/interface';
import {
  distrusted, holdDirectory, privateDirectory, readOwn, resolveDirectory, writeOwn, type HeldDirectory,
} from '@stci/platform-node';
import { identityOf, isRunning, readReason, type ProcessIdentity, type SessionPlace } from '@stci/stcirun/front-end';

const IDENTITY_FILE = 'run.json';
/** Larger files are no identity. */
const IDENTITY_BYTES_MAX = 65_536;

export interface RunIdentity {
  readonly directory: string;
  readonly process: ProcessIdentity;
  /** The file by which it is found while it goes on. */
  readonly entry: string;
  /** In the environment of its processes; see marked-processes.ts. */
  readonly mark: string;
}

/** A run of this process, which holds its directory to its end: others may exchange what the path leads to. */
export interface OpenRun extends RunIdentity {
  /** Leads to the directory. */
  readonly at: string;
}

export type FoundRun =
  | { readonly state: 'running'; readonly identity: RunIdentity }
  /** The process has ended, or was killed. */
  | { readonly state: 'over'; readonly identity: RunIdentity };

/** `NAME-20261122-130501` below finject-runs, in local time. */
export function defaultDirectory(name: string, wallMs: number): string {
  const at = new Date(wallMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  const time = `${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
  const base = join('finject-runs', `${name}-${day}-${time}`);
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? base : `${base}-${number}`;
    if (!existsSync(path)) return path;
  }
}

/** Makes the directory, and says that this process has it. Throws STCI_USAGE, STCI_OUTPUT_FAILED. */
export function openRunDirectory(path: string, place: SessionPlace): OpenRun {
  const own = identityOf(process.pid) as ProcessIdentity;
  const mark = `${own.pid}-${own.since}`;
  const entry = join(makeEntries(place), `${mark}.json`);
  try {
    const { path: directory, at } = makeDirectory(path);
    const identity = { directory, process: own, mark, entry };
    const text = `${JSON.stringify(identity)}\n`;
    writeOwn(join(at, IDENTITY_FILE), text);
    writeOwn(entry, text);
    return { ...identity, at };
  } catch (thrown) {
    if (thrown instanceof StciError) throw thrown;
    throw new StciError('STCI_OUTPUT_FAILED', `${path} cannot be made: ${readReason(thrown)}.`);
  }
}

/** Makes a directory and those above it, for its user alone, as targets print what others need not read. No links. */
function makeDirectory(path: string): HeldDirectory {
  const held = holdDirectory(resolveDirectory(resolve(path), { makes: true, isShared: true }));
  const facts = statSync(held.at);
  const reason = distrusted(facts)?.reason ?? (facts.uid === process.geteuid?.() ? '' : 'belongs to root');
  if (reason !== '') {
    throw new StciError('STCI_OUTPUT_FAILED', `${path} ${reason}, so others could read what a run writes there, or `
      + 'exchange it. Name another with --output.');
  }
  if (readdirSync(held.at).length === 0) return held;
  throw new StciError('STCI_USAGE', `${path} exists and is not empty. Name another with --output, or remove it.`);
}

/** The run is over. */
export function leaveRunDirectory(identity: RunIdentity): void {
  rmSync(identity.entry, { force: true });
}

/** Runs of this user that go on, on this machine. */
export function runningRuns(place: SessionPlace): readonly RunIdentity[] {
  return entries(place).flatMap((path) => {
    const identity = readIdentity(path);
    if (identity !== undefined && isRunning(identity.process)) return [identity];
    rmSync(path, { force: true });
    return [];
  });
}

/**
 * The run of a directory. The directory may have come from anywhere, by tar or cp: its process is that of a run only if
 * the list of runs, which is private, says so, too. Throws STCI_USAGE where there is none, or it is not to be trusted.
 */
export function findRun(path: string, place: SessionPlace): FoundRun {
  const file = join(path, IDENTITY_FILE);
  if (!existsSync(file)) {
    throw new StciError('STCI_USAGE', `${path} is no directory of a run: there is no ${file}.`);
  }
  const identity = readIdentity(file);
  if (identity === undefined) {
    throw new StciError('STCI_USAGE', `${file} is damaged, or belongs to another user: it is not trusted.`);
  }
  if (!isRunning(identity.process)) return { state: 'over', identity };
  const entry = entries(place).find((one) => basename(one) === `${identity.mark}.json`);
  const listed = entry === undefined ? undefined : readIdentity(entry);
  if (listed !== undefined && isSame(listed.process, identity.process)) return { state: 'running', identity };
  // The process may have left the list just now.
  if (!isRunning(identity.process)) return { state: 'over', identity };
  throw new StciError('STCI_USAGE', `${file} names process ${identity.process.pid}, which is not in your list of runs: `
    + 'it is not trusted. A run with another session.directory is ended with the same one.');
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.since === b.since && a.boot === b.boot;
}

/** A regular file of this user, writable by no other. */
function readIdentity(path: string): RunIdentity | undefined {
  try {
    return checked(JSON.parse(readOwn(path, IDENTITY_BYTES_MAX).toString()));
  } catch {
    return undefined;
  }
}

function checked(value: unknown): RunIdentity | undefined {
  const { directory, mark, entry, process: own } = value as Partial<RunIdentity>;
  const { pid, since, boot, space } = own ?? {};
  const areTexts = [directory, mark, entry, since, boot, space].every((text) => typeof text === 'string');
  const isWhole = areTexts && Number.isSafeInteger(pid) && Number(pid) > 1 && /^\d+$/u.test(String(since));
  return isWhole && mark === `${pid}-${since}` ? (value as RunIdentity) : undefined;
}

/** A directory beside sessions: no session has such a name. */
const entriesIn = (sessions: string): string => join(sessions, '.experiments');

/** Files by which runs are found that go on. */
function entries(place: SessionPlace): readonly string[] {
  const directories = place.directories.map(entriesIn).filter((directory) => existsSync(directory));
  return inList(() => directories.flatMap((directory) => {
    const own = privateDirectory(directory, false);
    return readdirSync(own).map((name) => join(own, name));
  }));
}

function makeEntries(place: SessionPlace): string {
  return inList(() => privateDirectory(entriesIn(place.directory)));
}

/** Throws STCI_OUTPUT_FAILED. */
function inList<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof StciError) throw thrown;
    throw new StciError('STCI_OUTPUT_FAILED', `The list of runs cannot be kept: ${readReason(thrown)}.`);
  }
}
