/** Homes, nodes and login shells for tests that run the host's side of a start on this machine, without ssh. */

import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hexWord } from '@stci/host-program';
import { JOIN_PROGRAM, remoteCommand } from '@stci/launcher-ssh';

export const NONCE = '0123456789abcdef';

/** Answers `q` by its end, everything else as it is; tells what it was given as its carrier. */
const FAKE_AGENT = `process.stdout.write('agent ' + typeof stciShipped.path + ' ' + __filename + '\\n');
process.stdin.on('data', (chunk) => { if (String(chunk) === 'q') process.exit(7); process.stdout.write(chunk); });
process.stdin.on('end', () => process.exit(0));
`;

export const bundle = Buffer.from(FAKE_AGENT);
export const hash = sha256(bundle);

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Those of the shells that people log in with that this machine has. */
export const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'tcsh', 'csh', 'fish']
  .map((name) => ['/bin', '/usr/bin'].map((place) => `${place}/${name}`).find((path) => existsSync(path)))
  .filter((path) => path !== undefined);

export class Place {
  readonly root = mkdtempSync(join(tmpdir(), 'stci-ssh-'));
  home = this.root;

  get cache(): string {
    return join(this.home, '.cache/stci');
  }

  get cached(): string {
    return join(this.cache, `agent-${hash}.cjs`);
  }

  /** A node in its own directory that reports `version`. */
  node(name: string, version: string): string {
    const [preload, path] = [join(this.root, `${name}.cjs`), join(this.root, name)];
    writeFileSync(preload, `Object.defineProperty(process, 'version', { value: '${version}' });`);
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' --require '${preload}' "$@"\n`);
    chmodSync(path, 0o755);
    return path;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export interface LoginOptions {
  readonly shell?: string;
  readonly node?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly waitMs?: number;
  /** Runs the program that reaches an agent, with this path, instead of the agent. */
  readonly path?: string;
}

/** As sshd at a login: runs the shell with our command line, connected to its standard streams. */
export class Login {
  readonly child: ChildProcess;
  out = '';
  err = '';
  ended: number | string | undefined;

  constructor(place: Place, options: LoginOptions = {}) {
    const { shell = '/bin/sh', node = process.execPath, env = {}, waitMs = 30_000, path } = options;
    const program = path === undefined ? { hash, bundleBytes: bundle.length }
      : { hash: hexWord(path), bundleBytes: 0, program: JOIN_PROGRAM };
    const start = { ...program, nonce: NONCE, ownNode: process.execPath, node, waitMs };
    this.child = spawn(shell, ['-c', remoteCommand(start)], {
      stdio: 'pipe',
      env: { PATH: '/usr/bin:/bin', HOME: place.home, ...env },
    });
    this.child.stdout?.setEncoding('latin1').on('data', (text: string) => (this.out += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    this.child.stdin?.on('error', () => undefined);
    this.child.on('close', (status, signal) => (this.ended = status ?? signal ?? 'gone'));
  }

  said(words: string): boolean {
    return this.out.includes(`STCI ${NONCE} ${words}`);
  }

  send(data: Uint8Array | string): void {
    this.child.stdin?.write(data);
  }

  end(): void {
    this.child.stdin?.end();
  }
}
