/**
 * Keeps the guardian: started before the first guarded tool, started again if somebody kills it, told of every
 * group at once. A line goes out by a system call within `write` (the pipe is empty, its reader does nothing else),
 * so that a kill -9 straight after a spawn finds the group registered.
 */

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ErrorRecord, Log, Secrets } from '@stci/interface';
import { builtin } from './builtin.js';
import { GUARDIAN_SCRIPT } from './guardian-script.js';
import type { Since } from './proc.js';
import type { GroupKeeper } from './tool-process.js';

/** The variable that holds the mark, in the environment of each guarded tool. */
export const GUARD_VARIABLE = 'STCI_GUARD';

const SHELL = '/bin/sh';
const MARK_BYTES = 12;

/** Guardians started in the life of one process; more means that something keeps killing them. */
const STARTS_MAX = 32;

export class Guardian implements GroupKeeper {
  readonly #secrets: Secrets;
  readonly #log: Log;
  readonly #groups = new Set<number>();
  #mark: string | undefined;
  #child: ChildProcess | undefined;
  #starts = 0;
  #firstStart: Since | undefined;

  constructor(secrets: Secrets, log: Log) {
    this.#secrets = secrets;
    this.#log = log;
  }

  /** Process id of the running guardian; undefined before the first tool. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get environment(): Readonly<Record<string, string>> {
    this.#mark ??= Buffer.from(this.#secrets.bytes(MARK_BYTES)).toString('hex');
    return { [GUARD_VARIABLE]: this.#mark };
  }

  /** Starts it before it is needed. */
  warm(): void {
    if (this.#child === undefined) this.#start();
  }

  prepare(): ErrorRecord | undefined {
    const error = this.#child === undefined ? this.#start() : undefined;
    if (error === undefined) this.#tell('!');
    return error;
  }

  add(group: number): void {
    this.#firstStart ??= { pid: group, atMs: performance.now() };
    this.#groups.add(group);
    this.#tell(`+${group}`);
  }

  remove(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`-${group}`);
  }

  get firstStart(): Since | undefined {
    return this.#firstStart;
  }

  clear(): void {
    if (this.#groups.size === 0) this.#tell('=');
  }

  #tell(line: string): void {
    this.#child?.stdin?.write(`${line}\n`);
  }

  #start(): ErrorRecord | undefined {
    if (++this.#starts > STARTS_MAX) return unguarded(`it was killed ${STARTS_MAX} times`);
    let child: ChildProcess;
    try {
      child = builtin('node:child_process').spawn(SHELL, ['-c', GUARDIAN_SCRIPT, 'stci-guardian'], {
        cwd: '/',
        // Not ours: it must not hold the mark of an outer guardian's tools, whose end it would share.
        env: { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
      });
    } catch (error) {
      return unguarded((error as Error).message);
    }
    child.on('error', () => {});
    if (child.pid === undefined) return unguarded(`${SHELL} cannot be started`);
    this.#adopt(child);
    return undefined;
  }

  #adopt(child: ChildProcess): void {
    this.#child = child;
    const stdin = child.stdin as Socket;
    stdin.on('error', () => {});
    // It waits for us, never we for it.
    child.unref();
    stdin.unref();
    child.on('exit', () => this.#replace());
    const groups = [...this.#groups].map((group) => `+${group}`);
    // One write: it knows all or nothing.
    this.#tell([`${GUARD_VARIABLE}=${this.environment[GUARD_VARIABLE]}`, ...groups].join('\n'));
  }

  #replace(): void {
    this.#child = undefined;
    if (this.#groups.size === 0) return;
    const error = this.#start();
    this.#log.write('warn', `The guardian of this process's tools was killed. ${error?.message ?? 'Started again.'}`);
  }
}

function unguarded(why: string): ErrorRecord {
  return {
    code: 'STCI_PROGRAM_SPAWN',
    message: `No tool can be started: the guardian, which ends tools when their agent dies, does not run: ${why}.`,
  };
}
