/**
 * The agent bundle: read from a file of an installation, or shipped over a link to a host without one. A shipped agent
 * starts others (session agents in processes or threads) from the same bytes; the starting code verifies their hash
 * before running them. Bytes that are in no directory are written to an unnamed file, which disappears with this
 * process.
 */

import { StciError } from '@stci/interface';
import type { AgentBundle, AgentWait } from '@stci/interface';
import { START_SCRIPT } from './processes/start-script.js';
import { builtin } from './system/builtin.js';

/** What the code that received the bundle passes to the agent. */
export interface ShippedBundle {
  readonly hash: string;
  /** undefined once they are known to be at `path`. */
  readonly bytes: Uint8Array | undefined;
  /** Path of the bytes on this host; undefined: only in this process. */
  path?: string | undefined;
  /** Descriptors that the shell which became this process opened (start-script.ts). */
  readonly held?: string;
  /** How long the agent is to wait for its boot record. */
  readonly waitMs?: number;
  /**
   * The agent was started together with others: it waits for the agent above it at a listener. The end of standard
   * input before that one has connected ends it; whatever is read there is ignored. Nothing is written to standard
   * output but by `say`.
   */
  readonly waits?: AgentWait;
}

/** Properties of every bundle from this host. */
const LOCAL = { node: process.execPath, holder: START_SCRIPT };

/** A bundle's head, its text up to a line of `//`, is the body of a function with these parameters. */
const PARAMETERS = ['require', 'module', 'exports', '__filename', '__dirname', 'stciShipped'];

/** Run by `node -e` and by threads; a path and a hash are the last two arguments. */
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

/** Program for a host where no file can be stored: reports the reason to the agent that starts this one. */
const REFUSE_CODE = `process.stderr.write(process.argv.at(-1) + '\\n'); process.exitCode = 1;`;

export function shippedCommand(shipped: ShippedBundle): readonly string[] {
  const { code, args } = shippedThread(shipped);
  return [process.execPath, '-e', code, '--', ...args];
}

export function shippedThread(shipped: ShippedBundle): { code: string; args: readonly string[] } {
  try {
    return { code: RUN_CODE, args: [(shipped.path ??= place(shipped)), shipped.hash] };
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return { code: REFUSE_CODE, args: [thrown.message] };
  }
}

/** The bytes to ship: kept in this process, or read again and verified. Throws StciError if they have changed. */
export function shippedBundle({ hash, bytes, path }: ShippedBundle): AgentBundle {
  if (bytes !== undefined) return { hash, bytes, ...LOCAL };
  const reread = read(path);
  if (reread.hash === hash) return reread;
  const message = `The agent bundle ${path} was changed after it had been stored: it is not sent on.`;
  throw new StciError('STCI_INTERNAL', message);
}

/** Reads the file at the first use. Throws STCI_INTERNAL if there is none. */
export function bundleOf(path: string | undefined): () => AgentBundle {
  let bundle: AgentBundle | undefined;
  return () => (bundle ??= read(path));
}

function read(path: string | undefined): AgentBundle {
  try {
    if (path === undefined) throw new Error('this program has no agent bundle');
    const bytes = builtin('node:fs').readFileSync(path);
    const hash = builtin('node:crypto').createHash('sha256').update(bytes).digest('hex');
    return { bytes, hash, ...LOCAL };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `There is no agent to send to other hosts: ${why}. Build or install this program again.`;
    throw new StciError('STCI_INTERNAL', message, { cause });
  }
}

function place(shipped: ShippedBundle): string {
  const { tmpdir } = builtin('node:os');
  let failure: unknown;
  for (const directory of [process.env['XDG_RUNTIME_DIR'], tmpdir(), '/dev/shm', '/var/tmp']) {
    if (directory === undefined) continue;
    try {
      return write(directory, shipped);
    } catch (thrown) {
      failure = thrown;
    }
  }
  const why = failure instanceof Error ? failure.message : 'no directory is writable';
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
