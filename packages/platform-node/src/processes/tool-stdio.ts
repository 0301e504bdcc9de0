/**
 * The standard streams of a tool: pipes if the pool has them, else Node's, which are sockets. This process holds both
 * ends of each pipe until the tool is started, then closes the tool's ends: otherwise it would never read end of file.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { RANK_SOCKET_FD, type Channel, type ProcessEvents, type SpawnSpec, type StdioMode } from '@stci/interface';
import { openWriter, takeHandle } from '../channels/sockets.js';
import { streamChannel } from '../channels/stream-channel.js';
import { builtin } from '../system/builtin.js';
import { openOutput, type OutputPipe } from './output-pipe.js';
import type { PipePool } from './pipe-pool.js';

const NODE_STDIO = { pipe: 'pipe', null: 'ignore', inherit: 'inherit' } as const satisfies Record<StdioMode, string>;

/** Our ends, once the tool runs. */
export interface ToolStreams {
  readonly stdin: Writable | undefined;
  /** The same, where it is a pipe. */
  readonly input: InputPipe | undefined;
  readonly outputs: readonly OutputPipe[];
  /** Of the pair of which the tool has the other. */
  readonly socket: Channel | undefined;
}

export class ToolStdio {
  /** Argument for `spawn`. */
  readonly given: StdioOptions;
  readonly #ours: (number | undefined)[] = [];
  readonly #theirs: (number | undefined)[] = [];

  constructor(spec: Pick<SpawnSpec, 'stdin' | 'stdout' | 'stderr' | 'hasSocket'>, pool: PipePool | undefined) {
    const standard = [spec.stdin, spec.stdout, spec.stderr].map((mode, i) => {
      const pipe = mode === 'pipe' ? pool?.take() : undefined;
      if (pipe === undefined) return NODE_STDIO[mode];
      const [ours, theirs] = i === 0 ? [pipe.writeFd, pipe.readFd] : [pipe.readFd, pipe.writeFd];
      this.#ours[i] = ours;
      this.#theirs[i] = theirs;
      return theirs;
    });
    this.given = spec.hasSocket === true ? [...standard, 'pipe'] : standard; // Node's pipes are pairs of sockets.
  }

  /** The tool was not started: closes both ends. */
  abandon(): void {
    closeAll(this.#theirs);
    closeAll(this.#ours);
  }

  /** The tool runs: closes its ends. */
  attach(child: ChildProcess, events: ProcessEvents): ToolStreams {
    closeAll(this.#theirs);
    const outputs = (['stdout', 'stderr'] as const).flatMap((name, i) => {
      const fd = this.#ours[i + 1];
      const source = fd === undefined ? child[name] && takeHandle(child[name]) : { fd };
      return source ? [openOutput(source, name, events)] : [];
    });
    const [input] = this.#ours;
    const socket = socketOf(child);
    if (input === undefined) return { stdin: child.stdin ?? undefined, input, outputs, socket };
    const stdin = openWriter(input);
    return { stdin, input: new InputPipe(stdin, input), outputs, socket };
  }
}

function socketOf({ pid, stdio }: ChildProcess): Channel | undefined {
  const socket = stdio[RANK_SOCKET_FD] as Socket | null | undefined;
  if (socket === null || socket === undefined) return undefined;
  return streamChannel({ kind: 'unix', label: `process ${pid}`, readable: socket, writable: socket });
}

/** What a pipe takes while nobody reads. */
const PIPE_BYTES = 65_536;

/** A tool's input as our end knows it: how much was written, and at its end whether somebody has read of that. */
export class InputPipe {
  readonly #stdin: Writable;
  readonly #writeFd: number;
  #readFd: number | undefined;
  #writtenBytes = 0;

  constructor(stdin: Writable, writeFd: number) {
    this.#stdin = stdin;
    this.#writeFd = writeFd;
  }

  onWrite(chunk: Uint8Array): void {
    this.#writtenBytes += chunk.length;
  }

  /**
   * To be called before our end is closed: what is in the pipe then stays there. While it is open there is no reader of
   * ours, as writes to a tool that does not read any longer have to fail.
   */
  hold(): void {
    // Of more than the pipe takes, somebody has read; an end that was closed has given its number away.
    if (this.#readFd !== undefined || this.#writtenBytes > PIPE_BYTES || this.#stdin.destroyed) return;
    const { openSync, constants: { O_RDONLY, O_NONBLOCK } } = builtin('node:fs');
    try {
      this.#readFd = openSync(`/proc/self/fd/${this.#writeFd}`, O_RDONLY | O_NONBLOCK);
    } catch {
      // Whether it reads is not known then.
    }
  }

  /** At the tool's end, once; what it has left behind gets no input any longer. True also where it is not known. */
  wasRead(): boolean {
    this.hold();
    const fd = this.#readFd;
    if (fd === undefined) return this.#writtenBytes > 0;
    const left = bytesIn(fd, this.#writtenBytes);
    closeAll([fd]);
    return left !== this.#writtenBytes;
  }
}

/** At most those that were written, and one: others may write into the pipe, and go on. */
function bytesIn(fd: number, writtenBytes: number): number {
  const { readSync } = builtin('node:fs');
  const room = new Uint8Array(PIPE_BYTES);
  let bytes = 0;
  try {
    for (let count = -1; count !== 0 && bytes <= writtenBytes; bytes += count) count = readSync(fd, room);
  } catch {
    // EAGAIN: our writing end is open, and there is no more.
  }
  return bytes;
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) builtin('node:fs').closeSync(fd);
}
