/**
 * Directories of runs, and which process makes each: its id and start time, so that a later process with the same id is
 * not taken for it. Beside the user's sessions there is an entry for each run that goes on, so that `finject abort`
 * finds them; files of other users are not read.
 */

import {
  existsSync, fstatSync, mkdirSync, openSync, closeSync, readdirSync, readFileSync, rmSync, writeFileSync, constants,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { StciError } from '@stci/interface';
import { makePrivate } from '@stci/platform-node';
import { identityOf, isRunning, readReason, type ProcessIdentity } from '@stci/stcirun/front-end';

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

export type FoundRun =
  | { readonly state: 'running'; readonly identity: RunIdentity }
  /** It has ended, or was killed. */
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
export function openRunDirectory(path: string, sessions: string): RunIdentity {
  const directory = resolve(path);
  const own = identityOf(process.pid) as ProcessIdentity;
  const mark = `${own.pid}-${own.since}`;
  const identity = { directory, process: own, mark, entry: join(entries(sessions), `${mark}.json`) };
  try {
    if (existsSync(directory) && readdirSync(directory).length > 0) {
      throw new StciError('STCI_USAGE', `${path} exists and is not empty. Name another with --output, or remove it.`);
    }
    makeDirectory(directory);
    const text = `${JSON.stringify(identity)}\n`;
    writeFileSync(join(directory, IDENTITY_FILE), text, { mode: 0o600, flag: 'wx' });
    writeFileSync(identity.entry, text, { mode: 0o600 });
  } catch (thrown) {
    if (thrown instanceof StciError) throw thrown;
    throw new StciError('STCI_OUTPUT_FAILED', `${path} cannot be made: ${readReason(thrown)}.`);
  }
  return identity;
}

/**
 * With those above it; its user's alone, since targets print what others need not read. Node's own recursion does not
 * end where a parent says that there is nothing, as /proc does.
 */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** The run is over. */
export function leaveRunDirectory(identity: RunIdentity): void {
  rmSync(identity.entry, { force: true });
}

/** Runs of this user that go on, on this machine. `sessions`: directory of the sessions. */
export function runningRuns(sessions: string): readonly RunIdentity[] {
  const directory = entries(sessions);
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    const identity = readIdentity(path);
    if (identity !== undefined && isRunning(identity.process)) return [identity];
    rmSync(path, { force: true });
    return [];
  });
}

/**
 * The run of a directory. The directory may have come from anywhere, by tar or cp: its process is that of a run only if
 * the list of runs, which is private, says so, too. Throws STCI_USAGE where there is none, or it is not to be trusted.
 * `sessions`: directory of the sessions.
 */
export function findRun(path: string, sessions: string): FoundRun {
  const file = join(path, IDENTITY_FILE);
  if (!existsSync(file)) {
    throw new StciError('STCI_USAGE', `${path} is no directory of a run: there is no ${file}.`);
  }
  const identity = readIdentity(file);
  if (identity === undefined) {
    throw new StciError('STCI_USAGE', `${file} is damaged, or belongs to another user: it is not trusted.`);
  }
  if (!isRunning(identity.process)) return { state: 'over', identity };
  const listed = readIdentity(join(entries(sessions), `${identity.mark}.json`));
  if (listed !== undefined && isSame(listed.process, identity.process)) return { state: 'running', identity };
  // It may have left the list just now.
  if (!isRunning(identity.process)) return { state: 'over', identity };
  throw new StciError('STCI_USAGE', `${file} names process ${identity.process.pid}, which is not in your list of runs: `
    + 'it is not trusted. A run with another session.directory is ended with the same one.');
}

function isSame(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.pid === b.pid && a.since === b.since && a.boot === b.boot;
}

/** A regular file of this user, writable by no other. */
function readIdentity(path: string): RunIdentity | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { uid, mode, size } = fstatSync(fd);
    const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
    const isOwn = isFile && uid === process.geteuid?.() && (mode & 0o022) === 0;
    return isOwn && size <= IDENTITY_BYTES_MAX ? checked(JSON.parse(readFileSync(fd, 'utf8'))) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function checked(value: unknown): RunIdentity | undefined {
  const { directory, mark, entry, process: own } = value as Partial<RunIdentity>;
  const { pid, since, boot, space } = own ?? {};
  const areTexts = [directory, mark, entry, since, boot, space].every((text) => typeof text === 'string');
  const isWhole = areTexts && Number.isSafeInteger(pid) && Number(pid) > 1 && /^\d+$/u.test(String(since));
  return isWhole && mark === `${pid}-${since}` ? (value as RunIdentity) : undefined;
}

/** No session has such a name. Throws STCI_OUTPUT_FAILED. */
function entries(sessions: string): string {
  const directory = join(sessions, '.experiments');
  makePrivate(dirname(sessions));
  const problem = makePrivate(sessions) ?? makePrivate(directory);
  if (problem === undefined) return directory;
  throw new StciError('STCI_OUTPUT_FAILED', `The list of runs cannot be kept in ${directory}: ${problem}.`);
}
