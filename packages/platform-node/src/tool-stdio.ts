/**
 * The standard streams of a tool: pipes if the pool has them, else Node's, which are sockets. This process holds both
 * ends of each pipe until the tool is started, then closes the tool's ends: otherwise it would never read end of file.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { ProcessEvents, SpawnSpec, StdioMode } from '@stci/interface';
import { builtin } from './builtin.js';
import { openOutput, type OutputPipe } from './output-pipe.js';
import type { PipePool } from './pipe-pool.js';
import { openWriter, takeHandle } from './sockets.js';

const NODE_STDIO = { pipe: 'pipe', null: 'ignore', inherit: 'inherit' } as const satisfies Record<StdioMode, string>;

/** Our ends, once the tool runs. */
export interface ToolStreams {
  readonly stdin: Writable | undefined;
  readonly outputs: readonly OutputPipe[];
}

export class ToolStdio {
  /** Argument for `spawn`. */
  readonly given: StdioOptions;
  readonly #ours: (number | undefined)[] = [];
  readonly #theirs: (number | undefined)[] = [];

  constructor(spec: Pick<SpawnSpec, 'stdin' | 'stdout' | 'stderr'>, pool: PipePool | undefined) {
    this.given = [spec.stdin, spec.stdout, spec.stderr].map((mode, i) => {
      const pipe = mode === 'pipe' ? pool?.take() : undefined;
      if (pipe === undefined) return NODE_STDIO[mode];
      const [ours, theirs] = i === 0 ? [pipe.writeFd, pipe.readFd] : [pipe.readFd, pipe.writeFd];
      this.#ours[i] = ours;
      this.#theirs[i] = theirs;
      return theirs;
    });
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
    return { stdin: (input === undefined ? child.stdin : openWriter(input)) ?? undefined, outputs };
  }
}

function closeAll(fds: readonly (number | undefined)[]): void {
  for (const fd of fds) if (fd !== undefined) builtin('node:fs').closeSync(fd);
}
