/**
 * The caller's standard output and error: where they lead, whether both lead to the same place, and messages of our
 * own that must not be put into the middle of a line.
 */

import * as fs from 'node:fs';
import type { WriteStream } from 'node:tty';
import type { StreamName } from '@stci/core/iof';
import type { RunScreen } from '@stci/core/run';
import { printable, type StciError } from '@stci/interface';
import { builtin } from '@stci/platform-node';
import { nodeStream } from '../process/standard-streams.js';
import { isColored, paintError, type ColorMode } from '../process/colors.js';
import { isSamePlace, isStream, isTerminal } from '../process/descriptor.js';
import { outputError } from '../process/output-error.js';
import {
  fileBatches, streamBatches, Writer, type WritableStream, type WriteBatch, type WriterOptions,
} from './writer.js';

export interface Terminal extends RunScreen {
  readonly out: Writer;
  /** The same as `out` where both descriptors lead to one place. */
  readonly err: Writer;
  readonly shared: boolean;
  /** Whether the stream leads to a terminal. */
  isTerminal(stream: StreamName): boolean;
  /** Width for lines that are drawn over; undefined where standard error is no terminal that can do so. */
  readonly columns: number | undefined;
}

/** Where a terminal does not say. */
const COLUMNS = 80;

/** Deadline of the last messages where the reader has been abandoned. */
const ABANDONED_FLUSH_MS = 1000;

/** `isRaw`: a terminal as standard error does not go back to the first column by itself. */
export function openTerminal(onFault: (error: StciError) => void, color: ColorMode, isRaw = false): Terminal {
  const shared = isSamePlace(1, 2);
  const options = (fd: 1 | 2): WriterOptions =>
    ({ breaksLines: isTerminal(fd), gathers: true, losesMessages: fd === 2 });
  const open = (fd: 1 | 2, name: string): Writer =>
    new Writer(batchesOf(fd), (error) => onFault(outputError(`standard ${name}`, error)), options(fd));
  const out = open(1, 'output');
  const err = shared ? out : open(2, 'error');
  return makeTerminal(out, err, color, isRaw && isTerminal(2) ? '\r\n' : '\n');
}

/** A terminal over its two writers, which are one where both lead to the same place. */
export function makeTerminal(out: Writer, err: Writer, color: ColorMode = 'never', lineEnd = '\n'): Terminal {
  let isAbandoned = false;
  const flushes = new Set<() => void>();
  const leaveSoon = (finish: () => void): unknown => setTimeout(finish, ABANDONED_FLUSH_MS);
  const isPainted = isColored(color, 2);
  return {
    out,
    err,
    shared: out === err,
    isTerminal: (stream) => isTerminal(stream === 'stdout' ? 1 : 2),
    get columns() {
      return isTerminal(2) && process.env['TERM'] !== 'dumb' ? process.stderr.columns || COLUMNS : undefined;
    },
    message: (text, isError = false) => {
      const plain = printable(text.endsWith('\n') ? text : `${text}\n`).replaceAll('\n', lineEnd);
      err.message(Buffer.from(isError && isPainted ? plain.replace(/^\w+:/u, paintError) : plain));
    },
    event: (text) => out.message(Buffer.from(text)),
    abandon: () => {
      isAbandoned = true;
      out.abandon();
      if (out !== err) err.abandon();
      flushes.forEach(leaveSoon);
    },
    flush: (done) => {
      out.endOutput();
      err.endOutput();
      const finish = (): void => {
        if (flushes.delete(finish)) done();
      };
      flushes.add(finish);
      if (isAbandoned) leaveSoon(finish);
      // Where output is abandoned meanwhile, messages are queued again.
      const wait = (): void => {
        if (out.queuedBytes === 0 && err.queuedBytes === 0) return finish();
        out.afterMessages(() => err.afterMessages(wait));
      };
      wait();
    },
  };
}

/** Chosen at the first write, so that a run without output opens nothing. */
function batchesOf(fd: 1 | 2): WriteBatch {
  let chosen: WriteBatch | undefined;
  return (batch, done) => {
    chosen ??= isStream(fd) ? streamBatches(streamOf(fd)) : fileBatches(fd);
    chosen(batch, done);
  };
}

/** Node's own handle of a stream; it has no public name. */
interface Blocking {
  readonly _handle?: { setBlocking?(on: boolean): void };
}

/**
 * Writes without blocking: otherwise stcirun would stand still while the reader does (a terminal at Ctrl-S, a slow
 * pipe), and its lease would expire. What the descriptor leads to is therefore opened anew, so that the description
 * which is shared with the caller's shell, or with the next program of a list, stays blocking. A socket, or a terminal
 * or pipe of another user, cannot be opened so: Node's own stream is left, which puts the description back when it
 * ends.
 */
function streamOf(fd: 1 | 2): WritableStream {
  try {
    const { O_NOCTTY, O_NONBLOCK, O_WRONLY } = fs.constants;
    const own = fs.openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NOCTTY | O_NONBLOCK);
    if (!isTerminal(fd)) return new (builtin('node:net').Socket)({ fd: own, readable: false, writable: true });
    const stream = new (builtin('node:tty').WriteStream)(own) as WriteStream & Blocking;
    stream._handle?.setBlocking?.(false);
    return stream;
  } catch {
    return nodeStream(fd === 1 ? 'stdout' : 'stderr');
  }
}
