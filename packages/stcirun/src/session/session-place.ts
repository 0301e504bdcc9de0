/**
 * Where sessions are found: a directory each, in one that only their user may enter. It has `key` (the secret of the
 * handshake), `session.json` (who runs it, where it listens), `log`, and the jobs' spools. A directory appears under
 * its name whole, by one rename, which also decides between two sessions of one name. One whose process has ended is
 * told of once, and stays for a day under another name.
 */

import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { check, integer, object, word } from '@stci/core';
import { StciError } from '@stci/interface';
import { builtin, openOwn, publicity, readOwn, writeOwn } from '@stci/platform-node';
import { isElsewhere, isRunning, type ProcessIdentity } from './process-identity.js';
import { SessionDirectories, unusable } from './session-directories.js';
import { LOG_FILE, loggedFault } from './session-log.js';
import { isSessionName } from './session-name.js';

export interface SessionFacts {
  readonly name: string;
  readonly version: string;
  readonly hostname: string;
  readonly process: ProcessIdentity;
  /** The private socket at which it listens. */
  readonly socket: string;
  readonly startWallMs: number;
}

const COUNT = integer(0, Number.MAX_SAFE_INTEGER);
const factsShape = object<SessionFacts>({
  name: word,
  version: word,
  hostname: word,
  process: object<ProcessIdentity>({ pid: COUNT, since: word, boot: word, space: word }),
  socket: word,
  startWallMs: COUNT,
});

/** As it was found: its directory has no links on the way. */
export interface FoundSession extends SessionFacts {
  readonly directory: string;
}

export interface GoneSession {
  readonly state: 'gone';
  readonly name: string;
  readonly facts: FoundSession;
  /** The last error of its log; empty where there is none. */
  readonly fault: string;
}

export type SessionEntry =
  | { readonly state: 'running'; readonly name: string; readonly facts: FoundSession }
  /** Its process has ended. */
  | GoneSession
  /** Not this user's, of another host or container, or damaged. */
  | { readonly state: 'invalid'; readonly name: string; readonly reason: string };

const KEY_FILE = 'key';
const FACTS_FILE = 'session.json';
const FILE_BYTES_MAX = 65_536;
/** Directories that are being made, or removed; no session has such a name. */
const STAGED = '.new-';
const REMOVED = '.old-';
/** Of sessions whose process has ended; those that have this file were told of. */
const KEPT = '.gone-';
const TOLD_FILE = 'told';
/** The last name s1, s2, … that was given, as the name of an empty file. */
const GIVEN = /^\.s(\d{1,9})$/u;
/** Age at which one that was left behind is removed. */
const STAGED_MS_MAX = 3_600_000;
/** How long those that have ended are kept, and how many in a directory. */
const KEPT_MS = 86_400_000;
const KEPT_MAX = 64;

export class SessionPlace {
  readonly #directories: SessionDirectories;

  /** `directory`: that of parameter session.directory. Throws STCI_PARAM_INVALID for a relative one. */
  constructor(directory = '') {
    this.#directories = new SessionDirectories(directory);
  }

  /** Of new sessions, made where it is missing; without links. Throws STCI_SESSION_REFUSED. */
  get directory(): string {
    return this.#directories.make();
  }

  /** Those that are there. Throws STCI_SESSION_REFUSED. */
  get directories(): readonly string[] {
    return this.#directories.found();
  }

  /** All that are there, by name; behind them those that are gone, and were not told of. */
  list(): readonly SessionEntry[] {
    const found = this.directories.map((directory) =>
      ({ directory, names: this.#keep(directory, () => fs.readdirSync(directory)).sort() }));
    const entries = found.flatMap(({ directory, names }) =>
      names.filter(isSessionName).map((name) => readEntry(join(directory, name), name)));
    const kept = found.flatMap(({ directory, names }) =>
      names.filter((name) => name.startsWith(KEPT)).flatMap((name) => untold(join(directory, name))));
    return [...entries.sort((a, b) => (a.name < b.name ? -1 : 1)), ...kept];
  }

  /**
   * The caller tells of it, and nobody else will. Returns the directory in which its log and output are for a day;
   * undefined: another command was first.
   */
  tell({ facts }: GoneSession): string | undefined {
    const kept = setAside(facts);
    try {
      if (kept !== undefined) writeOwn(join(kept, TOLD_FILE), '');
      return kept;
    } catch {
      return undefined;
    }
  }

  /** Names in use. */
  names(): ReadonlySet<string> {
    return new Set(this.list().filter(({ state }) => state !== 'gone').map(({ name }) => name));
  }

  /**
   * The first of s1, s2, … that was never given, so that the job of a session that is over has no other's name. Two
   * commands at once get different ones: of two files, only the larger number stays.
   */
  freeName(): string {
    const taken = this.names();
    const { directory } = this;
    return this.#keep(directory, () => {
      for (;;) {
        let number = Math.max(0, ...this.directories.flatMap(given)) + 1;
        while (taken.has(`s${number}`)) number += 1;
        if (give(directory, number)) return `s${number}`;
      }
    });
  }

  /** Throws as `publish` does, before anything is begun; that may still find the name taken. */
  checkFree(name: string): void {
    const other = this.list().find((entry) => entry.name === name);
    if (other !== undefined && other.state !== 'gone') throw takenError(name, other);
  }

  /** Where a session is made before it has its name. Throws STCI_SESSION_REFUSED. */
  stage(): string {
    const { directory } = this;
    return this.#keep(directory, () => {
      for (const one of this.directories) clean(one);
      return fs.mkdtempSync(join(directory, STAGED));
    });
  }

  /** The descriptor of the log of a session that is being made. Throws STCI_SESSION_REFUSED. */
  openLog(staged: string): number {
    const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = fs.constants;
    return this.#keep(staged, () => openOwn(join(staged, LOG_FILE), O_WRONLY | O_APPEND | O_CREAT | O_EXCL));
  }

  /** Gives the staged directory its name. Throws STCI_USAGE where a running session has it. */
  publish(staged: string, facts: SessionFacts, key: Uint8Array): FoundSession {
    const found = { ...facts, directory: join(dirname(staged), facts.name) };
    this.#keep(dirname(staged), () => {
      writeOwn(join(staged, KEY_FILE), key);
      writeOwn(join(staged, FACTS_FILE), `${JSON.stringify(facts)}\n`);
    });
    for (let attempt = 0; ; attempt += 1) {
      try {
        fs.renameSync(staged, found.directory);
        return found;
      } catch (thrown) {
        const taken = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((thrown as NodeJS.ErrnoException).code ?? '');
        const other = readEntry(found.directory, facts.name);
        if (!taken || other.state !== 'gone' || attempt > 0) throw takenError(facts.name, other, thrown as Error);
        setAside(other.facts);
      }
    }
  }

  /** The secret of the handshake. Throws STCI_SESSION_REFUSED. */
  readKey({ name, directory }: FoundSession): Uint8Array {
    try {
      return readOwn(join(directory, KEY_FILE), FILE_BYTES_MAX);
    } catch (thrown) {
      throw new StciError('STCI_SESSION_REFUSED', `The key of session ${name} cannot be read: ${String(thrown)}.`);
    }
  }

  /** An error of the system in `call` is one of the directory: a full or read-only disk. */
  #keep<T>(directory: string, call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      throw unusable(directory, thrown);
    }
  }
}

/** The directory of one that ends itself, or was ended. Not of one that has the name since. */
export function removeSession(facts: FoundSession): void {
  const away = join(dirname(facts.directory), `${REMOVED}${process.pid}-${facts.process.pid}-${facts.name}`);
  if (takeAway(facts, away)) removeAll(away);
}

function readFacts(directory: string): SessionFacts {
  return check(factsShape, JSON.parse(readOwn(join(directory, FACTS_FILE), FILE_BYTES_MAX).toString()), FACTS_FILE);
}

function readEntry(directory: string, name: string): SessionEntry {
  const invalid = (reason: string): SessionEntry => ({ state: 'invalid', name, reason });
  try {
    const reason = publicity(directory);
    if (reason !== undefined) return invalid(reason);
    const facts = { ...readFacts(directory), directory };
    const remedy = `If it has ended: rm -r ${directory}`;
    if (facts.hostname !== hostname()) return invalid(`${directory} is of a session of host ${facts.hostname}`);
    if (facts.name !== name) return invalid(`it is a copy of session ${facts.name}: rm -r ${directory}`);
    if (isElsewhere(facts.process)) return invalid(`its process is in another container. ${remedy}`);
    if (isRunning(facts.process)) return { state: 'running', name, facts };
    return { state: 'gone', name, facts, fault: loggedFault(join(directory, LOG_FILE)) };
  } catch (thrown) {
    const remedy = `End its process, if there is one, then: rm -r ${directory}`;
    return invalid(`${join(directory, FACTS_FILE)} is damaged (${(thrown as Error).message}). ${remedy}`);
  }
}

/** A session that was set aside, unless somebody was told of it. */
function untold(directory: string): readonly GoneSession[] {
  try {
    if (publicity(directory) !== undefined || fs.existsSync(join(directory, TOLD_FILE))) return [];
    const facts = { ...readFacts(directory), directory };
    return [{ state: 'gone', name: facts.name, facts, fault: loggedFault(join(directory, LOG_FILE)) }];
  } catch {
    // It is being removed.
    return [];
  }
}

/** Frees the name of one whose process has ended. Its directory then; undefined: another command was first. */
function setAside(facts: FoundSession): string | undefined {
  const { directory, name } = facts;
  if (basename(directory).startsWith(KEPT)) return directory;
  const away = join(dirname(directory), `${KEPT}${name}.${builtin('node:crypto').randomBytes(4).toString('hex')}`);
  if (!takeAway(facts, away)) return undefined;
  const nowS = Date.now() / 1000;
  fs.utimesSync(away, nowS, nowS);
  return away;
}

/** By a rename first; a session that was given the name in between goes back. Whether it is there. */
function takeAway(facts: FoundSession, away: string): boolean {
  try {
    fs.renameSync(facts.directory, away);
    if (isSame(readFacts(away), facts)) return true;
    fs.renameSync(away, facts.directory);
  } catch {
    // Another command was first.
  }
  return false;
}

function given(directory: string): readonly number[] {
  return fs.readdirSync(directory).flatMap((name) => GIVEN.exec(name)?.[1] ?? []).map(Number);
}

/** Whether this number is given to the caller. */
function give(directory: string, number: number): boolean {
  const path = (of: number): string => join(directory, `.s${of}`);
  try {
    writeOwn(path(number), '');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  }
  const all = given(directory);
  const largest = Math.max(...all);
  for (const other of all) if (other < largest) fs.rmSync(path(other), { force: true });
  return number === largest;
}

/** What commands that were killed have left, and sessions that ended long ago; those that have ended since stay. */
function clean(directory: string): void {
  const names = fs.readdirSync(directory);
  for (const name of names.filter(isSessionName)) {
    const entry = readEntry(join(directory, name), name);
    if (entry.state === 'gone') setAside(entry.facts);
  }
  const kept: { readonly path: string; readonly ageMs: number }[] = [];
  for (const name of fs.readdirSync(directory)) {
    const path = join(directory, name);
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    const ageMs = Date.now() - (stat?.mtimeMs ?? Infinity);
    if (name.startsWith(KEPT)) kept.push({ path, ageMs });
    else if ((name.startsWith(STAGED) || name.startsWith(REMOVED)) && ageMs > STAGED_MS_MAX) removeAll(path);
  }
  kept.sort((a, b) => a.ageMs - b.ageMs);
  for (const [at, { path, ageMs }] of kept.entries()) if (at >= KEPT_MAX || ageMs > KEPT_MS) removeAll(path);
}

function removeAll(path: string): void {
  fs.rmSync(path, { recursive: true, force: true });
}

function isSame({ process: a }: SessionFacts, { process: b }: SessionFacts): boolean {
  return a.pid === b.pid && a.since === b.since && a.boot === b.boot;
}

function takenError(name: string, other: SessionEntry, thrown?: Error): StciError {
  if (other.state === 'running') {
    return new StciError('STCI_USAGE', `There is a session ${name} already. Choose another --name, or end it: `
      + `stci stop ${name}`);
  }
  const reason = other.state === 'invalid' ? other.reason : thrown?.message ?? 'its name is taken';
  return new StciError('STCI_SESSION_REFUSED', `Session ${name} cannot be made: ${reason}.`);
}
