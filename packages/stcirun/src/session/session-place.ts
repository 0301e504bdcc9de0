/**
 * Where sessions are found: a directory each, in one that only their user may enter. It has `key` (the secret of the
 * handshake), `session.json` (who runs it, where it listens), `log`, and the jobs' spools. A directory appears under
 * its name whole, by one rename, which also decides between two sessions of one name. One whose process has ended is
 * removed by the next command that looks.
 */

import * as fs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { integer, object, str } from '@stci/core';
import { StciError } from '@stci/interface';
import { makePrivate, publicity } from '@stci/platform-node';
import { isElsewhere, isRunning, type ProcessIdentity } from './process-identity.js';
import { loggedFault } from './session-log.js';
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
  name: str,
  version: str,
  hostname: str,
  process: object<ProcessIdentity>({ pid: COUNT, since: str, boot: str, space: str }),
  socket: str,
  startWallMs: COUNT,
});

export type SessionEntry =
  | { readonly state: 'running'; readonly name: string; readonly facts: SessionFacts; readonly directory: string }
  /** Its process has ended. */
  | {
    readonly state: 'gone'; readonly name: string; readonly facts: SessionFacts; readonly directory: string;
    /** The last error of its log; empty where there is none. */
    readonly fault: string;
  }
  /** Not this user's, of another host or container, or damaged. */
  | { readonly state: 'invalid'; readonly name: string; readonly directory: string; readonly reason: string };

const KEY_FILE = 'key';
const FACTS_FILE = 'session.json';
export const LOG_FILE = 'log';
/** Directories that are being made, or removed; no session has such a name. */
const STAGED = '.new-';
const REMOVED = '.old-';
/** The last name s1, s2, … that was given, as the name of an empty file. */
const GIVEN = /^\.s(\d{1,9})$/u;
/** Age at which one that was left behind is removed. */
const STAGED_MS_MAX = 3_600_000;

export class SessionPlace {
  readonly directory: string;

  /** `directory`: that of parameter session.directory. Throws STCI_PARAM_INVALID for a relative one. */
  constructor(directory = '') {
    if (directory !== '' && !isAbsolute(directory)) {
      throw new StciError('STCI_PARAM_INVALID', `session.directory: expected an absolute path, got '${directory}'.`);
    }
    this.directory = directory === '' ? `/tmp/stci-${process.geteuid?.() ?? 0}/sessions` : directory;
  }

  /** All that are there, by name; those that are gone are removed with this. */
  list(): readonly SessionEntry[] {
    const entries = this.#names().map((name) => this.#read(name));
    for (const entry of entries) if (entry.state === 'gone') this.#remove(entry.facts);
    return entries;
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
    this.#make();
    return this.#keep(() => {
      for (;;) {
        let number = Math.max(0, ...this.#given()) + 1;
        while (taken.has(`s${number}`)) number += 1;
        if (this.#give(number)) return `s${number}`;
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
    this.#make();
    return this.#keep(() => {
      this.#clean();
      return fs.mkdtempSync(join(this.directory, STAGED));
    });
  }

  /** The descriptor of the log of a session that is being made. Throws STCI_SESSION_REFUSED. */
  openLog(staged: string): number {
    return this.#keep(() => fs.openSync(join(staged, LOG_FILE), 'a', 0o600));
  }

  /** Gives the staged directory its name. Throws STCI_USAGE where a running session has it. */
  publish(staged: string, facts: SessionFacts, key: Uint8Array): string {
    const directory = join(this.directory, facts.name);
    this.#keep(() => {
      fs.writeFileSync(join(staged, KEY_FILE), key, { mode: 0o600 });
      fs.writeFileSync(join(staged, FACTS_FILE), `${JSON.stringify(facts)}\n`, { mode: 0o600 });
    });
    for (let attempt = 0; ; attempt += 1) {
      try {
        fs.renameSync(staged, directory);
        return directory;
      } catch (thrown) {
        const taken = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((thrown as NodeJS.ErrnoException).code ?? '');
        const other = this.#read(facts.name);
        if (!taken || other.state !== 'gone' || attempt > 0) throw takenError(facts.name, other, thrown as Error);
        this.#remove(other.facts);
      }
    }
  }

  /** The secret of the handshake. Throws STCI_SESSION_REFUSED. */
  readKey(name: string): Uint8Array {
    try {
      return fs.readFileSync(join(this.directory, name, KEY_FILE));
    } catch (thrown) {
      throw new StciError('STCI_SESSION_REFUSED', `The key of session ${name} cannot be read: ${String(thrown)}.`);
    }
  }

  /** Of a session that ends itself, or is gone. Not one that has the name since. */
  remove(facts: SessionFacts): void {
    this.#remove(facts);
  }

  /** Throws STCI_SESSION_REFUSED. */
  #make(): void {
    makePrivate(dirname(this.directory));
    // Checked each time: below /tmp another user could have made one of that name before.
    const problem = makePrivate(this.directory);
    if (problem !== undefined) throw this.#unusable(problem);
  }

  #unusable(problem: string): StciError {
    const remedy = 'Mend that, or choose another directory: --mca session.directory=PATH.';
    return new StciError('STCI_SESSION_REFUSED', `Sessions cannot be kept in ${this.directory}: ${problem}. ${remedy}`);
  }

  /** An error of the system in `call` is one of the directory: a full or read-only disk. */
  #keep<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      throw this.#unusable((thrown as Error).message);
    }
  }

  /** Empty where there is no directory yet. Throws STCI_SESSION_REFUSED for one that cannot have sessions. */
  #names(): readonly string[] {
    if (fs.lstatSync(this.directory, { throwIfNoEntry: false }) === undefined) return [];
    const problem = publicity(this.directory);
    if (problem !== undefined) throw this.#unusable(problem);
    return this.#keep(() => fs.readdirSync(this.directory)).filter(isSessionName).sort();
  }

  #given(): readonly number[] {
    return fs.readdirSync(this.directory).flatMap((name) => GIVEN.exec(name)?.[1] ?? []).map(Number);
  }

  /** Whether this number is given to the caller. */
  #give(number: number): boolean {
    const path = (of: number): string => join(this.directory, `.s${of}`);
    try {
      fs.closeSync(fs.openSync(path(number), 'wx', 0o600));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw thrown;
    }
    const all = this.#given();
    const largest = Math.max(...all);
    for (const other of all) if (other < largest) fs.rmSync(path(other), { force: true });
    return number === largest;
  }

  #read(name: string): SessionEntry {
    const directory = join(this.directory, name);
    const invalid = (reason: string): SessionEntry => ({ state: 'invalid', name, directory, reason });
    try {
      const reason = publicity(directory);
      if (reason !== undefined) return invalid(reason);
      const facts = factsShape(JSON.parse(fs.readFileSync(join(directory, FACTS_FILE), 'utf8')), FACTS_FILE);
      const remedy = `If it has ended: rm -r ${directory}`;
      if (facts.hostname !== hostname()) return invalid(`${directory} is of a session of host ${facts.hostname}`);
      if (facts.name !== name) return invalid(`it is a copy of session ${facts.name}: rm -r ${directory}`);
      if (isElsewhere(facts.process)) return invalid(`its process is in another container. ${remedy}`);
      if (isRunning(facts.process)) return { state: 'running', name, facts, directory };
      return { state: 'gone', name, facts, directory, fault: loggedFault(join(directory, LOG_FILE)) };
    } catch (thrown) {
      const remedy = `End its process, if there is one, then: rm -r ${directory}`;
      return invalid(`${join(directory, FACTS_FILE)} is damaged (${(thrown as Error).message}). ${remedy}`);
    }
  }

  /** Takes it away by a rename first; a session that was given the name in between goes back. */
  #remove(facts: SessionFacts): void {
    const directory = join(this.directory, facts.name);
    const away = join(this.directory, `${REMOVED}${process.pid}-${facts.process.pid}-${facts.name}`);
    try {
      fs.renameSync(directory, away);
      const found = JSON.parse(fs.readFileSync(join(away, FACTS_FILE), 'utf8')) as SessionFacts;
      if (isSame(found, facts)) fs.rmSync(away, { recursive: true, force: true });
      else fs.renameSync(away, directory);
    } catch {
      // Another command was first.
    }
  }

  /** What commands that were killed have left. */
  #clean(): void {
    for (const name of fs.readdirSync(this.directory)) {
      const path = join(this.directory, name);
      if (!name.startsWith(STAGED) && !name.startsWith(REMOVED)) continue;
      const stat = fs.lstatSync(path, { throwIfNoEntry: false });
      if (stat !== undefined && Date.now() - stat.mtimeMs > STAGED_MS_MAX) {
        fs.rmSync(path, { recursive: true, force: true });
      }
    }
  }
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
