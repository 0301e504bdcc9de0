/**
 * A session agent that says what a test wants, in pieces of any size: for the tests of stci.h and stci-client. Its
 * listener is a Unix socket in a directory of its own.
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patient } from '@stci/testkit';

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url));
export const INCLUDE = join(PACKAGE, 'include');
export const PROBE = join(PACKAGE, 'test/agent-fake/probe.c');
const STRICT = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-Wshadow', '-Wconversion'];
/** An answer that does not come is not waited for as long as by a program. */
const HASTY = '-DSTCI__GRACE_MS=300';
const SANITIZE = ['-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'];

export type Head = Readonly<Record<string, unknown>>;

/** What came: the record's line, and its raw bytes. */
export interface Came {
  readonly head: Head;
  readonly bytes: Buffer;
}

/** Answers a record: what is to be written. `end`: the connection is closed after it. */
export type Script = (came: Came) => readonly (Buffer | 'end')[];

/** A record as the agent writes it. */
export function record(head: Head, bytes: Buffer | string = ''): Buffer {
  const raw = Buffer.from(bytes);
  const line = JSON.stringify(raw.length > 0 ? { ...head, bytes: raw.length } : head)
    .replace(/[^ -~]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return Buffer.concat([Buffer.from(`${line}\n`), raw]);
}

/** Why C programs cannot be compiled here; undefined if they can. */
export function whyNoCompiler(compiler: string): string | undefined {
  const { error } = spawnSync(compiler, ['--version']);
  return error === undefined ? undefined : `no ${compiler} is installed here`;
}

/** Compiles a C or C++ file strictly; returns what the compiler said. */
export function compile(compiler: string, standard: string, source: string, program: string): string {
  const language = compiler === 'c++' ? ['-x', 'c++'] : [];
  const args = [...language, `-std=${standard}`, '-O2', ...STRICT, `-I${INCLUDE}`, source, '-o', program];
  return spawnSync(compiler, args, { encoding: 'utf8' }).stderr;
}

export class FakeAgent {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-header-'));
  /** All records that came to the last connection. */
  came: Came[] = [];
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  #script: Script = () => [];
  /** Bytes written at a time; 0: all at once. */
  #piece = 0;

  async open(): Promise<void> {
    const server = createServer((socket) => this.#accept(socket));
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(this.#path, resolve));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server?.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Compiles the probe, with the sanitizers where they are installed; returns what the compiler said if it failed. */
  compileProbe(): string {
    const args = ['-std=c99', ...STRICT, HASTY, `-I${INCLUDE}`, PROBE, '-o', this.#probe];
    if (spawnSync('cc', [...SANITIZE, ...args]).status === 0) return '';
    return spawnSync('cc', args, { encoding: 'utf8' }).stderr;
  }

  /** Runs the probe with these arguments against the script; its lines, those of a sanitizer included. */
  async run(args: readonly string[], script: Script, piece = 0): Promise<string[]> {
    this.follow(script, piece);
    const child = spawn(this.#probe, args, { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (more) => (text += more));
    const timer = setTimeout(() => child.kill('SIGKILL'), patient(20_000));
    const status = await new Promise<string>((resolve) =>
      child.on('close', (code, signal) => resolve(String(code ?? signal))));
    clearTimeout(timer);
    const lines = text.trimEnd().split('\n');
    return status === '0' ? lines : [...lines, `exit ${status}`];
  }

  /** Says what the script says, to whoever connects next. */
  follow(script: Script, piece = 0): void {
    this.came = [];
    this.#script = script;
    this.#piece = piece;
  }

  /** Of a rank's process. */
  get env(): NodeJS.ProcessEnv {
    return { ...process.env, STCI_CLIENT_SOCKET: this.#path, STCI_CLIENT_TOKEN: 'ab12', STCI_RANK: '1' };
  }

  get #path(): string {
    return join(this.directory, 'agent.sock');
  }

  get #probe(): string {
    return join(this.directory, 'probe');
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    let rest = Buffer.alloc(0);
    let answered = Promise.resolve();
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const head = JSON.parse(rest.subarray(0, end).toString('latin1')) as Head;
        const whole = end + 1 + Number(head['bytes'] ?? 0);
        if (rest.length < whole) return;
        const came = { head, bytes: rest.subarray(end + 1, whole) };
        rest = rest.subarray(whole);
        this.came.push(came);
        const answers = this.#script(came);
        answered = answered.then(() => this.#answer(socket, answers));
      }
    });
  }

  async #answer(socket: Socket, answers: readonly (Buffer | 'end')[]): Promise<void> {
    for (const answer of answers) {
      if (answer === 'end') {
        socket.end();
        return;
      }
      const piece = this.#piece === 0 ? Math.max(1, answer.length) : this.#piece;
      for (let at = 0; at < answer.length; at += piece) {
        socket.write(answer.subarray(at, at + piece));
        if (this.#piece > 0) await new Promise(setImmediate);
      }
    }
  }
}
