/**
 * The caller's standard output and error: where they lead, whether both lead to the same place, and messages of our
 * own that must not be put into the middle of a line.
 */

import * as fs from 'node:fs';
import type { WriteStream } from 'node:tty';
import type { RunScreen } from '@stci/core/run';
import { printable } from '@stci/interface';
import { builtin } from '@stci/platform-node';
import { fileBatches, streamBatches, Writer } from './writer.js';

export interface Terminal extends RunScreen {
  readonly out: Writer;
  /** The same as `out` where both descriptors lead to one place. */
  readonly err: Writer;
  readonly shared: boolean;
  /** Width for lines that are drawn over; undefined where standard error is no terminal that can do so. */
  readonly columns: number | undefined;
}

/** Where a terminal does not say. */
const COLUMNS = 80;

/** `onFault` is told of standard output alone: without standard error there is nobody to tell. */
export function openTerminal(onFault: (error: NodeJS.ErrnoException) => void): Terminal {
  const shared = samePlace();
  const out = new Writer(batchesOf(1), onFault);
  const err = shared ? out : new Writer(batchesOf(2), () => undefined);
  const terminal: Terminal = {
    out,
    err,
    shared,
    get columns() {
      return isTerminal(2) && process.env['TERM'] !== 'dumb' ? process.stderr.columns || COLUMNS : undefined;
    },
    message: (text) => {
      err.write(Buffer.from(printable(text.endsWith('\n') ? text : `${text}\n`)));
    },
    event: (text) => out.write(Buffer.from(text)),
    abandon: () => out.abandon(),
    flush: (done) => out.after(() => err.after(done)),
  };
  return terminal;
}

/** Chosen at the first write, so that a run without output opens nothing. */
function batchesOf(fd: 1 | 2): ReturnType<typeof fileBatches> {
  let chosen: ReturnType<typeof fileBatches> | undefined;
  return (batch, done) => {
    chosen ??= isStream(fd) ? streamBatches(streamOf(fd)) : fileBatches(fd);
    chosen(batch, done);
  };
}

/** Node's own handle of a stream; it has no public name. */
interface Blocking {
  readonly _handle?: { setBlocking?(on: boolean): void };
}

function streamOf(fd: 1 | 2): NodeJS.WriteStream {
  const own = isTerminal(fd) ? unblockedTerminal(fd) : undefined;
  return own ?? (fd === 1 ? process.stdout : process.stderr);
}

/**
 * Node writes to a terminal with blocking calls: while the user holds it (Ctrl-S), nothing else would run, and the
 * agents would miss every sign of life. So it is opened anew, not blocking: the description that we share with
 * the caller's shell stays as it is. Where that cannot be (another user's terminal), Node's own way is left.
 */
function unblockedTerminal(fd: number): WriteStream | undefined {
  try {
    const { O_NOCTTY, O_NONBLOCK, O_WRONLY } = fs.constants;
    const own = fs.openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NOCTTY | O_NONBLOCK);
    const stream = new (builtin('node:tty').WriteStream)(own) as WriteStream & Blocking;
    stream._handle?.setBlocking?.(false);
    return stream;
  } catch {
    return undefined;
  }
}

function isStream(fd: number): boolean {
  const stats = statOf(fd);
  if (stats === undefined) return false;
  return stats.isFIFO() || stats.isSocket() || (stats.isCharacterDevice() && isTerminal(fd));
}

/** A terminal's major device number is 136..143 (pty), 4 (tty) or 5 (console). Cheaper than loading node:tty. */
export function isTerminal(fd: number): boolean {
  const stats = statOf(fd);
  if (stats === undefined || !stats.isCharacterDevice()) return false;
  const major = (stats.rdev >> 8) & 0xfff;
  return major === 4 || major === 5 || (major >= 136 && major <= 143);
}

function samePlace(): boolean {
  const out = statOf(1);
  const err = statOf(2);
  return out !== undefined && err !== undefined && out.dev === err.dev && out.ino === err.ino;
}

function statOf(fd: number): fs.Stats | undefined {
  try {
    return fs.fstatSync(fd);
  } catch {
    return undefined;
  }
}
