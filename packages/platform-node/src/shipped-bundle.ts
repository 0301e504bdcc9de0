/**
 * The agent in one piece: read from a file where this program was installed, or carried here over a link and never
 * installed at all. A carried agent starts others (session agents as processes or threads) from the same bytes: the
 * starting code checks their hash again before it runs them, wherever they lie. Bytes that no directory keeps are
 * given a file without a name, which is gone with this process.
 */

import { StciError } from '@stci/interface';
import type { AgentBundle } from '@stci/interface';
import { builtin } from './builtin.js';
import { START_SCRIPT } from './start-script.js';

/** What an agent is given by the code that carried it here. */
export interface ShippedBundle {
  readonly hash: string;
  /** undefined once it is certain that they lie at `path`. */
  readonly bytes: Uint8Array | undefined;
  /** Where the bytes lie on this host; undefined: only in this process. */
  path?: string | undefined;
  /** What the shell that became this process holds open for it (start-script.ts). */
  readonly held?: string;
  /** How long the starter wants this agent to wait for what it sends. */
  readonly waitMs?: number;
}

/** What goes with every bundle from this host. */
const HERE = { node: process.execPath, holder: START_SCRIPT };

/** A bundle's head, its text up to a line of `//`, is the body of a function with these parameters. */
const PARAMETERS = ['require', 'module', 'exports', '__filename', '__dirname', 'stciShipped'];

/** Run by `node -e` and by threads, with a path and a hash as the last two arguments. */
const RUN_CODE = `'use strict';
const [path, hash] = process.argv.slice(-2);
const bytes = require('node:fs').readFileSync(path);
if (require('node:crypto').createHash('sha256').update(bytes).digest('hex') !== hash) {
  throw new Error('The agent bundle ' + path + ' was changed after it had been stored: it is not run');
}
const main = { exports: {} };
const head = bytes.latin1Slice(0, bytes.indexOf('\\n//\\n') + 1 || bytes.length);
require('node:vm').compileFunction(head, ${JSON.stringify(PARAMETERS)}, { filename: path })(
  require, main, main.exports, path, require('node:path').dirname(path), { hash, bytes, path });
`;

/** A start on a host where no file can be stored: the reason is reported to the starter of the agent. */
const REFUSE_CODE = `process.stderr.write(process.argv.at(-1) + '\\n'); process.exitCode = 1;`;

export function shippedCommand(carried: ShippedBundle): readonly string[] {
  const { code, args } = shippedThread(carried);
  return [process.execPath, '-e', code, '--', ...args];
}

export function shippedThread(carried: ShippedBundle): { code: string; args: readonly string[] } {
  try {
    return { code: RUN_CODE, args: [(carried.path ??= place(carried)), carried.hash] };
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return { code: REFUSE_CODE, args: [thrown.message] };
  }
}

/** The bytes to send on: kept in this process, or read again and checked. Throws StciError where they have changed. */
export function shippedBundle({ hash, bytes, path }: ShippedBundle): AgentBundle {
  if (bytes !== undefined) return { hash, bytes, ...HERE };
  const again = read(path);
  if (again.hash === hash) return again;
  const message = `The agent bundle ${path} was changed after it had been stored: it is not sent on.`;
  throw new StciError('STCI_INTERNAL', message);
}

/** Reads the file when it is first asked for. Throws STCI_INTERNAL where there is none. */
export function bundleOf(path: string | undefined): () => AgentBundle {
  let bundle: AgentBundle | undefined;
  return () => (bundle ??= read(path));
}

function read(path: string | undefined): AgentBundle {
  try {
    if (path === undefined) throw new Error('this program was started from its parts');
    const bytes = builtin('node:fs').readFileSync(path);
    const hash = builtin('node:crypto').createHash('sha256').update(bytes).digest('hex');
    return { bytes, hash, ...HERE };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `There is no agent to send to other hosts: ${why}. Build or install this program again.`;
    throw new StciError('STCI_INTERNAL', message, { cause });
  }
}

function place(carried: ShippedBundle): string {
  const { tmpdir } = builtin('node:os');
  let failure: unknown;
  for (const directory of [process.env['XDG_RUNTIME_DIR'], tmpdir(), '/dev/shm', '/var/tmp']) {
    if (directory === undefined) continue;
    try {
      return write(directory, carried);
    } catch (thrown) {
      failure = thrown;
    }
  }
  const why = failure instanceof Error ? failure.message : 'no directory takes it';
  const message = `No further agent can be started here as a process or thread: its code cannot be stored: ${why}. `
    + 'Use --mca launcher.session.method=inline.';
  throw new StciError('STCI_PROGRAM_SPAWN', message, { cause: failure });
}

function write(directory: string, { bytes = new Uint8Array(), hash }: ShippedBundle): string {
  const { existsSync, openSync, unlinkSync, writeSync } = builtin('node:fs');
  const unique = builtin('node:crypto').randomBytes(8).toString('hex');
  const path = builtin('node:path').join(directory, `stci-agent-${hash.slice(0, 16)}-${unique}.cjs`);
  const fd = openSync(path, 'wx+', 0o600);
  let named = `/proc/${process.pid}/fd/${fd}`;
  try {
    if (writeSync(fd, bytes, 0, bytes.length, 0) !== bytes.length) throw new Error(`${directory} is full`);
  } catch (thrown) {
    unlinkSync(path);
    throw thrown;
  }
  if (existsSync(named)) {
    unlinkSync(path);
  } else {
    named = path;
    process.on('exit', () => unlinkSync(path));
  }
  return named;
}
