/**
 * Runs the guardian: starts it before the first guarded tool, restarts it when it is killed, and reports every group to
 * it at once. `write` is synchronous (the pipe is empty, and its reader does nothing else), so a group is registered
 * even if this process is killed right after the spawn.
 */

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { assert, type ErrorRecord, type Log, type Secrets } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { nowMs } from '../system/clock.js';
import { GUARDIAN_SCRIPT } from './guardian-script.js';
import type { HeldGuardian } from './held.js';
import type { Since } from './proc.js';
import { UNMARK, ownLimit } from './process-mark.js';
import type { GroupKeeper } from './tool-process.js';

/** The variable that holds the mark, in the environment of each guarded tool. */
export const GUARD_VARIABLE = 'STCI_GUARD';

export const SHELL = '/bin/sh';
const MARK_BYTES = 12;

/** Guardian starts in the life of one process; beyond that, something keeps killing them. */
const STARTS_MAX = 32;

/** A running guardian. */
interface Running {
  readonly pid: number;
  readonly input: Socket;
}

export class Guardian implements GroupKeeper {
  readonly #secrets: Secrets;
  readonly #log: Log;
  readonly #groups = new Set<number>();
  readonly #shared = new Set<string>();
  #mark: string | undefined;
  #held: HeldGuardian | undefined;
  #running: Running | undefined;
  #starts = 0;
  #firstStart: Since | undefined;

  /** `held`: a guardian started by the shell that became this process. */
  constructor(secrets: Secrets, log: Log, held?: HeldGuardian) {
    this.#secrets = secrets;
    this.#log = log;
    this.#held = held;
  }

  /** Process id of the running guardian; undefined before the first tool. */
  get pid(): number | undefined {
    return this.#running?.pid;
  }

  get environment(): Readonly<Record<string, string>> {
    this.#mark ??= Buffer.from(this.#secrets.bytes(MARK_BYTES)).toString('hex');
    return { [GUARD_VARIABLE]: this.#mark };
  }

  /** Starts the guardian before it is needed. */
  warm(): void {
    if (this.#running === undefined) this.#start();
  }

  prepare(): ErrorRecord | undefined {
    const error = this.#running === undefined ? this.#start() : undefined;
    if (error === undefined) this.#send('!');
    return error;
  }

  add(group: number): void {
    this.#firstStart ??= { pid: group, atMs: nowMs() };
    this.#groups.add(group);
    this.#send(`+${group}`);
  }

  remove(group: number): void {
    if (this.#groups.delete(group)) this.#send(`-${group}`);
  }

  get firstStart(): Since | undefined {
    return this.#firstStart;
  }

  share(prefixes: readonly string[]): void {
    for (const prefix of prefixes) {
      assert(/^[\w.]+$/u.test(prefix), `${prefix} is the beginning of a file's name`);
      if (this.#shared.has(prefix)) continue;
      this.#shared.add(prefix);
      this.#send(`~${prefix}`);
    }
  }

  clear(): void {
    if (this.#groups.size === 0) this.#send('=');
  }

  /** No tool will be started any more: the guardian ends what is left of them, and itself. */
  close(): void {
    this.#groups.clear();
    this.#running?.input.end();
    this.#running = undefined;
  }

  #send(line: string): void {
    this.#running?.input.write(`${line}\n`);
  }

  #start(): ErrorRecord | undefined {
    if (++this.#starts > STARTS_MAX) return unguarded(`it was killed ${STARTS_MAX} times`);
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) return this.#takeOverHeld(held);
    let child: ChildProcess;
    // Without the marks of an outer agent's tools, or it would be ended with them, and be counted as left behind.
    const script = ownLimit() === undefined ? `${UNMARK}\n${GUARDIAN_SCRIPT}` : GUARDIAN_SCRIPT;
    try {
      child = builtin('node:child_process').spawn(SHELL, ['-c', script, 'stci-guardian'], {
        cwd: '/',
        env: { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/bin` },
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
      });
    } catch (error) {
      return unguarded((error as Error).message);
    }
    child.on('error', () => {});
    if (child.pid === undefined) return unguarded(`${SHELL} cannot be started`);
    child.unref();
    child.on('exit', () => this.#replace());
    this.#takeOver({ pid: child.pid, input: child.stdin as Socket });
    return undefined;
  }

  #takeOverHeld({ pid, inputFd, lifeFd }: HeldGuardian): undefined {
    const { Socket } = builtin('node:net');
    const life = new Socket({ fd: lifeFd, readable: true, writable: false });
    life.on('error', () => {});
    life.on('close', () => this.#replace());
    life.resume();
    life.unref();
    this.#takeOver({ pid, input: new Socket({ fd: inputFd, readable: false, writable: true }) });
  }

  /** Pipe and child do not keep this process alive. */
  #takeOver(running: Running): void {
    this.#running = running;
    running.input.on('error', () => {});
    running.input.unref();
    const known = [...[...this.#groups].map((group) => `+${group}`), ...[...this.#shared].map((name) => `~${name}`)];
    // In one write: the guardian gets all of it or nothing.
    this.#send([`${GUARD_VARIABLE}=${this.environment[GUARD_VARIABLE]}`, ...known].join('\n'));
  }

  #replace(): void {
    this.#running = undefined;
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
