/** Jobs on test hosts, as processes of their login side, for tests that share one set of hosts. */

import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually } from '@stci/testkit';
import type { Hosts, RunResult } from '@stci/testkit/hosts';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));

const LIMIT_MS = 40_000;

/** A job that runs; standard input is open. */
export class Job {
  readonly child: ChildProcess;
  out = '';
  err = '';
  code: number | null | undefined;

  constructor(argv: readonly [string, ...string[]]) {
    const [file, ...rest] = argv;
    this.child = spawn(file, rest, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    this.child.stdout?.on('data', (chunk) => (this.out += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.err += String(chunk)));
    this.child.on('close', (code) => (this.code = code));
  }

  get lines(): readonly string[] {
    return this.out.split('\n').slice(0, -1);
  }

  /** Resolves once so many lines fit; an error if the job ends before. */
  async has(count: number, pattern: RegExp): Promise<void> {
    const found = (): number => this.lines.filter((line) => pattern.test(line)).length;
    await eventually(() => found() >= count || this.code !== undefined, { deadlineMs: LIMIT_MS, what: `${pattern}` })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${this.out}${this.err}`));
    assert.ok(found() >= count, `ended with ${this.code}: ${this.out}${this.err}`);
  }

  /** Its exit code. */
  async ended(): Promise<number | null> {
    await eventually(() => this.code !== undefined, { deadlineMs: LIMIT_MS, what: 'the end of stcirun' })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${this.out}${this.err}`));
    return this.code as number | null;
  }
}

/** stcirun and stci on the login side. */
export class LoginSide {
  readonly #hosts: Hosts;
  readonly #env: Readonly<Record<string, string>>;
  /** The directory of its sessions. */
  readonly sessions: string;

  constructor(hosts: Hosts) {
    this.#hosts = hosts;
    this.sessions = join(hosts.loginHome, 'sessions');
    this.#env = { STCI_MCA_session_directory: this.sessions };
  }

  stcirun(...args: readonly string[]): Promise<RunResult> {
    return this.#hosts.run([process.execPath, STCIRUN, ...args], { env: this.#env, deadlineMs: LIMIT_MS });
  }

  stci(...args: readonly string[]): Promise<RunResult> {
    return this.#hosts.run([process.execPath, STCI, ...args], { env: this.#env, deadlineMs: LIMIT_MS });
  }

  start(...args: readonly string[]): Job {
    return new Job(this.#hosts.loginArgv([process.execPath, STCIRUN, ...args], { env: this.#env }) as [string]);
  }

  async nothingLeft(): Promise<void> {
    const left = (): string =>
      [...this.#hosts.allLeftovers()].map(([host, all]) => `${host}: ${all.map(({ command }) => command)}`).join('; ');
    await eventually(() => left() === '', { deadlineMs: 20_000, what: 'nothing left on any host' })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${left()}`));
  }
}
