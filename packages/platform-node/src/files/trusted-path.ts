/**
 * Files and directories that no other user can read, write or exchange. A path is resolved once, from the root down:
 * every directory and link on the way is judged by its owner and mode as it is reached. What has passed stays so: in a
 * directory that was judged nobody but this user and root may rename, so no part of the result can become a link, or
 * somebody else's. Therefore the result is what is used afterwards, not the path that was resolved.
 */

import type { Stats } from 'node:fs';
import { builtin } from '../system/builtin.js';

const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;
const STICKY = 0o1000;
/** Links on the way, as the system has it. */
const LINKS_MAX = 40;

/** Why a path is not used. */
export class UntrustedPath extends Error {
  /** The path is somebody else's, or can become that: nothing that this user would have to mend. */
  readonly isForeign: boolean;

  constructor(text: string, isForeign = false) {
    super(text);
    this.name = 'UntrustedPath';
    this.isForeign = isForeign;
  }
}

function ownUser(): number {
  return process.geteuid?.() ?? 0;
}

export interface Distrust {
  readonly is: 'owner' | 'mode';
  /** The end of a sentence. */
  readonly reason: string;
}

/** Why somebody other than this user and root could have written it; undefined: nobody could. */
export function distrusted({ uid, mode }: Stats): Distrust | undefined {
  const own = ownUser();
  if (uid !== own && uid !== 0) {
    return { is: 'owner', reason: `belongs to another user (uid ${uid}; you are uid ${own})` };
  }
  if ((mode & OTHERS_WRITE) === 0) return undefined;
  return { is: 'mode', reason: `is ${(mode & ALL_WRITE) === 0 ? 'writable by its group' : 'world-writable'}` };
}

/**
 * Whether others cannot rename what is in a directory: nobody else may write there, or its sticky bit leaves each entry
 * to the entry's owner. In a user namespace root may have no number; there the owner of `/` stands for root.
 */
function isStable({ uid, mode }: Stats, writers: number): boolean {
  const isTrusted = uid === ownUser() || uid === 0 || uid === builtin('node:fs').lstatSync('/').uid;
  if ((mode & writers) === 0) return isTrusted || writers === ALL_WRITE;
  return isTrusted && (mode & STICKY) !== 0;
}

export interface ResolveOptions {
  /** Directories that are missing are made, for this user alone. */
  readonly makes?: boolean;
  /**
   * The user's working place, which a group or its owner may share with the user: only what everybody may write is
   * judged. What stands in it is for this user if it was made so, but may be taken away.
   */
  readonly isShared?: boolean;
}

/** The directory's path without links. Throws UntrustedPath, or the system's error: one that is not there. */
export function resolveDirectory(path: string, { makes = false, isShared = false }: ResolveOptions = {}): string {
  const { readlinkSync } = builtin('node:fs');
  const { dirname, join } = builtin('node:path');
  const writers = isShared ? ALL_WRITE : OTHERS_WRITE;
  let names = namesOf(path.startsWith('/') ? path : join(process.cwd(), path));
  let at = '/';
  for (let links = 0, [name] = names; name !== undefined; [name] = names) {
    names = names.slice(1);
    if (name === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const facts = judgedEntry(at, next, writers, makes);
    if (facts.isDirectory()) {
      at = next;
      continue;
    }
    if (!facts.isSymbolicLink()) throw new UntrustedPath(`${next} is not a directory`);
    if (names.length === 0 && !isShared) throw new UntrustedPath(`${next} is a symbolic link`);
    links += 1;
    if (links > LINKS_MAX) throw new UntrustedPath(`${path} has more than ${LINKS_MAX} symbolic links`);
    const target = readlinkSync(next);
    names = [...namesOf(target), ...names];
    if (target.startsWith('/')) at = '/';
  }
  return at;
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** An entry of a directory that all may write: others put entries; only those of this user and root are followed. */
function judgedEntry(directory: string, path: string, writers: number, makes: boolean): Stats {
  const { lstatSync } = builtin('node:fs');
  const above = stableFacts(directory, writers);
  if (makes) makeDirectory(path);
  const facts = lstatSync(path);
  const isOpen = (above.mode & writers) !== 0;
  if (isOpen && facts.uid !== ownUser() && facts.uid !== 0) throw foreign(path, facts);
  return facts;
}

function stableFacts(directory: string, writers: number): Stats {
  const facts = builtin('node:fs').lstatSync(directory);
  if (!isStable(facts, writers)) throw new UntrustedPath(`others may rename what is in ${directory}`, true);
  return facts;
}

function makeDirectory(path: string): void {
  const { lstatSync, mkdirSync } = builtin('node:fs');
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

function foreign(path: string, { uid }: Stats): UntrustedPath {
  return new UntrustedPath(`${path} belongs to user ${uid}, not to you (${ownUser()})`, true);
}

/** A new directory of this user's alone, where nobody else can put another in its place. Throws as resolveDirectory. */
export function makeTemporary(directory: string, prefix: string): string {
  const { mkdtempSync, realpathSync } = builtin('node:fs');
  const resolved = resolveDirectory(realpathSync(directory));
  stableFacts(resolved, OTHERS_WRITE);
  return mkdtempSync(`${resolved}/${prefix}`);
}

/**
 * The path without links of a file that is to be made, or replaced, where the user works: nobody can exchange it but
 * who shares that place. Throws as resolveDirectory.
 */
export function sharedFile(path: string): string {
  const { basename, dirname, join } = builtin('node:path');
  const directory = resolveDirectory(dirname(path), { isShared: true });
  const { mode } = stableFacts(directory, ALL_WRITE);
  const file = join(directory, basename(path));
  const facts = builtin('node:fs').lstatSync(file, { throwIfNoEntry: false });
  const isOpen = (mode & ALL_WRITE) !== 0;
  if (isOpen && facts !== undefined && facts.uid !== ownUser() && facts.uid !== 0) throw foreign(file, facts);
  return file;
}

/** Why others could enter an entry of a directory that was resolved. Throws if it is not there. */
export function publicity(directory: string): string | undefined {
  try {
    checkPrivate(directory);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof UntrustedPath) return thrown.message;
    throw thrown;
  }
}

function checkPrivate(directory: string): void {
  const facts = builtin('node:fs').lstatSync(directory);
  if (facts.isSymbolicLink()) throw new UntrustedPath(`${directory} is a symbolic link`);
  if (!facts.isDirectory()) throw new UntrustedPath(`${directory} is not a directory`);
  if (facts.uid !== ownUser()) throw foreign(directory, facts);
  if ((facts.mode & OTHERS) !== 0) throw new UntrustedPath(`${directory} is open to others: chmod 700 ${directory}`);
}

/** A directory that only its user may enter, without links, made where it is missing. Throws as resolveDirectory. */
export function privateDirectory(path: string, makes = true): string {
  const resolved = resolveDirectory(path, { makes });
  checkPrivate(resolved);
  return resolved;
}

/**
 * Opens a regular file of this user's, which no other may write; no link to one. With O_CREAT | O_EXCL it is made, for
 * this user alone. The path is that of a directory that was resolved. Throws UntrustedPath, or the system's error.
 */
export function openOwn(path: string, flags: number): number {
  const { closeSync, constants, fstatSync, openSync } = builtin('node:fs');
  const fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY, 0o600);
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) throw new UntrustedPath(`${path} is no regular file`);
    if (facts.uid !== ownUser()) throw foreign(path, facts);
    const wrong = distrusted(facts);
    if (wrong !== undefined) throw new UntrustedPath(`${path} ${wrong.reason}`);
    return fd;
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/**
 * Opens what a path leads to, for reading, so that what is judged by the descriptor is what is read: another file may
 * take the name meanwhile. Without waiting for a pipe's writer.
 */
export function openReal(path: string): number {
  const { constants, openSync, realpathSync } = builtin('node:fs');
  return openSync(realpathSync(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    | constants.O_NOCTTY);
}

/** A directory as it was opened, whatever its path leads to later. */
export interface HeldDirectory {
  /** As it was named: for messages. */
  readonly path: string;
  /** Leads to it as long as it is held, in this process alone. */
  readonly at: string;
  close(): void;
}

/** Holds the directory that a path leads to now. Throws the system's error. */
export function holdDirectory(path: string): HeldDirectory {
  const { closeSync, constants, openSync } = builtin('node:fs');
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path, at: `/proc/self/fd/${fd}`, close: () => closeSync(fd) };
}

/** Text of a file that `openOwn` accepts. */
export function readOwn(path: string, bytesMax: number): Buffer {
  const { closeSync, constants, fstatSync, readFileSync } = builtin('node:fs');
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(fd);
    if (size > bytesMax) throw new UntrustedPath(`${path} is larger than ${bytesMax} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes a file with these contents, for this user alone. Throws if there is something of that name. */
export function writeOwn(path: string, contents: string | Uint8Array): void {
  const { closeSync, constants, writeFileSync } = builtin('node:fs');
  const fd = openOwn(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  try {
    writeFileSync(fd, contents);
  } finally {
    closeSync(fd);
  }
}
