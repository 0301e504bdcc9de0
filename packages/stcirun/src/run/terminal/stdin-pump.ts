/**
 * The caller's standard input → the ranks, under credit: nothing is read while the ranks are slow, nothing at all
 * where no rank reads it. A terminal is read only while stcirun is in its foreground: a read from the background
 * would stop the process (SIGTTIN), so there the pump waits until it is brought back.
 */

import { constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { StdinSource } from '@stci/core/run';
import type { FrontEnd } from '@stci/interface';
import { builtin } from '@stci/platform-node';
import { isTerminal } from '../../process/descriptor.js';

/** Period at which a pump in the background checks whether it is in the foreground again. */
const FOREGROUND_PERIOD_MS = 500;

export class StdinPump implements StdinSource {
  readonly #frontEnd: Pick<FrontEnd, 'writeStdin' | 'closeStdin'>;
  #stream: NodeJS.ReadStream | Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over = false;
  takenBytes = 0;
  readonly #onContinue = (): void => this.#check();

  constructor(frontEnd: Pick<FrontEnd, 'writeStdin' | 'closeStdin'>) {
    this.#frontEnd = frontEnd;
  }

  start(): void {
    if (isNothing()) return this.#end();
    if (!isTerminal(0)) return this.#read();
    process.on('SIGCONT', this.#onContinue);
    this.#check();
  }

  drain(): void {
    if (!this.#over && this.#timer === undefined) this.#stream?.resume();
  }

  /** No rank reads any more, or the job has ended. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#timer);
    process.off('SIGCONT', this.#onContinue);
    this.#stream?.pause();
    // A read of a pipe or terminal that is under way must not keep the process.
    if (this.#stream !== undefined && 'unref' in this.#stream) this.#stream.unref();
  }

  /** Reads in the foreground, waits in the background. */
  #check(): void {
    if (this.#over) return;
    if (inForeground()) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      if (this.#stream === undefined) this.#read();
      else this.#stream.resume();
      return;
    }
    this.#stream?.pause();
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#check(), FOREGROUND_PERIOD_MS);
    this.#timer.unref();
  }

  #read(): void {
    const stream = openStdin();
    this.#stream = stream;
    stream.on('data', (chunk: Uint8Array) => {
      // What is typed at a terminal is for whoever reads it next.
      if (!isTerminal(0)) this.takenBytes += chunk.length;
      if (this.#over) return;
      if (!this.#frontEnd.writeStdin(chunk)) stream.pause();
    });
    stream.on('end', () => this.#end());
    stream.on('error', () => this.#end());
  }

  #end(): void {
    if (this.#over) return;
    this.stop();
    this.#frontEnd.closeStdin();
  }
}

/**
 * A pipe is opened anew: Node makes it non-blocking, which would affect all processes that share the description, such
 * as the next command of a list. A pipe that cannot be opened (another user's) is read as Node does it.
 */
function openStdin(): NodeJS.ReadStream | Socket {
  if (!fstatSync(0).isFIFO()) return process.stdin;
  try {
    const fd = openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
    return new (builtin('node:net').Socket)({ fd, readable: true, writable: false });
  } catch {
    return process.stdin;
  }
}

/** /dev/null and directories yield no data, so no stream is opened for them. */
function isNothing(): boolean {
  try {
    const stats = fstatSync(0);
    const isNullDevice = stats.isCharacterDevice() && stats.rdev === 0x103;
    return isNullDevice || stats.isDirectory();
  } catch {
    return true;
  }
}

/** Compares our process group with that of the terminal's foreground: fields 5 and 8 of /proc/self/stat. */
export function inForeground(): boolean {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const terminalGroup = Number(fields[5]);
  return terminalGroup === -1 || terminalGroup === Number(fields[2]);
}
