/**
 * A tool: the user's program with its pipes, its own session and process group. A group outlives its leader, and the
 * system may reuse the id of a group that is empty. So after the leader's end a group is signalled only after a check
 * that it has members, and never again once it was found empty.
 */

import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Channel, ErrorRecord, Process, ProcessEvents, SignalName, SpawnSpec } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { checkProgram, spawnError } from '../system/program.js';
import { binderOf, type Binder } from './binder.js';
import type { PipePool } from './pipe-pool.js';
import { groupMembers, groupSize, type Since } from './proc.js';
import { ToolStdio } from './tool-stdio.js';
import type { ToolStreams } from './tool-stdio.js';

/** Registers groups of guarded tools with the guardian, which ends them when this process dies. */
export interface GroupKeeper {
  /** Variables that the tool's environment must hold. */
  readonly environment: Readonly<Record<string, string>>;
  /** To be called before the fork; with an error the tool must not be started. */
  prepare(): ErrorRecord | undefined;
  /** Does the work of `prepare` in advance. */
  warm(): void;
  add(group: number): void;
  remove(group: number): void;
  /** Start of the first tool; undefined before it. */
  readonly firstStart: Since | undefined;
  /** Names of files in /dev/shm by which tools share memory begin so; they are removed with the tools. */
  share(prefixes: readonly string[]): void;
  /** A search has found no orphans, so none is needed again unless another tool is started. */
  clear(): void;
}

export interface ToolDeps {
  /** For a guarded tool; undefined for a plain one. */
  readonly keeper: GroupKeeper | undefined;
  /** undefined: tools get Node's pipes, which are sockets. */
  readonly pipes: PipePool | undefined;
}

/** A running process, and our ends of its pipes. */
interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly streams: ToolStreams;
}

/** What is to be executed. */
interface Found {
  readonly path: string;
  readonly binder: Binder;
}

/** Period at which the group of a tool that has ended is polled while it has members, in ms. */
const GROUP_POLL_MS = 2000;

/** Represents a process that could not be started. */
const NO_PROCESS: Process = {
  pid: 0,
  signal: () => false,
  groupSize: () => 0,
  groupMembers: () => [],
  writeStdin: () => true,
  closeStdin: () => {},
  hasReadInput: () => false,
  readable: () => {},
  closeOutput: () => {},
};

class ToolProcess implements Process {
  readonly pid: number;
  readonly socket: Channel | undefined;
  readonly #child: ChildProcess;
  readonly #keeper: GroupKeeper | undefined;
  readonly #streams: ToolStreams;
  #exited = false;
  #groupGone = false;
  #stdinClosed = false;
  #hasReadInput = false;

  constructor({ child, pid, streams }: Started, keeper: GroupKeeper | undefined, events: ProcessEvents) {
    this.pid = pid;
    this.socket = streams.socket;
    this.#child = child;
    this.#keeper = keeper;
    this.#streams = streams;
    if (streams.stdin !== undefined) this.#watchStdin(streams.stdin, events);
    // At a child's end Node resumes all streams of this list, paused or not; paused ones must stay so.
    (child.stdio as unknown[]).fill(null);
    child.on('exit', (status, signal) => {
      this.#exited = true;
      this.#hasReadInput = streams.input?.wasRead() ?? streams.stdin !== undefined;
      streams.stdin?.destroy();
      this.#watchGroup();
      const end = signal !== null ? { signal } : { status: status ?? 0 };
      // What is to be sent of its start, and what was begun in this turn, goes first: who is asked of its end may hang.
      setImmediate(() => events.onExit(end));
    });
    // A failure after the start (a signal without permission) is reported by the call that caused it.
    child.on('error', () => {});
  }

  #watchStdin(stdin: Writable, events: ProcessEvents): void {
    stdin.on('drain', () => {
      if (!this.#stdinClosed) events.onStdinDrain();
    });
    stdin.on('error', () => {});
    stdin.on('close', () => {
      if (this.#stdinClosed) return;
      this.#stdinClosed = true;
      events.onStdinClosed();
    });
  }

  signal(name: SignalName, whom: 'process' | 'group'): boolean {
    if (whom === 'process' || this.#keeper === undefined) {
      return !this.#exited && this.#child.kill(name as NodeJS.Signals);
    }
    if (this.#exited && this.groupSize() === 0) return false;
    try {
      process.kill(-this.pid, name);
      return true;
    } catch {
      return false;
    }
  }

  groupSize(): number {
    if (this.#groupGone) return 0;
    const size = this.#keeper === undefined ? 0 : groupSize(this.pid, this.#exited);
    // A leader whose end is not reported yet is no member any longer, but its group is still watched.
    if (!this.#exited) return Math.max(size, 1);
    if (size > 0) return size;
    this.#groupGone = true;
    this.#keeper?.remove(this.pid);
    return 0;
  }

  groupMembers(): readonly number[] {
    return this.groupSize() === 0 ? [] : groupMembers(this.pid);
  }

  /** Polls a group that outlives its leader, so that its id is deregistered before the system can reuse it. */
  #watchGroup(): void {
    if (this.groupSize() > 0) setTimeout(() => this.#watchGroup(), GROUP_POLL_MS).unref();
  }

  writeStdin(chunk: Uint8Array): boolean {
    const { stdin } = this.#streams;
    if (stdin === undefined || this.#stdinClosed || stdin.writableEnded) return true;
    this.#streams.input?.onWrite(chunk);
    return stdin.write(chunk);
  }

  closeStdin(): void {
    if (this.#stdinClosed) return;
    this.#streams.input?.hold();
    this.#streams.stdin?.end(() => {
      this.#stdinClosed = true;
    });
  }

  hasReadInput(): boolean {
    return this.#hasReadInput;
  }

  readable(on: boolean): void {
    for (const output of this.#streams.outputs) output.readable(on);
  }

  closeOutput(): void {
    for (const output of this.#streams.outputs) output.close();
  }
}

function refused(events: ProcessEvents, error: ErrorRecord): Process {
  process.nextTick(() => events.onError(error));
  return NO_PROCESS;
}

function start(spec: SpawnSpec, found: Found, keeper: GroupKeeper | undefined, stdio: ToolStdio): ChildProcess {
  const { path, binder } = found;
  // It searches the program as this has been: in PATH of the same environment, from the same directory.
  const args = binder === undefined ? spec.args : [...binder.args, spec.program, ...spec.args];
  try {
    return builtin('node:child_process').spawn(binder?.path ?? path, args, {
      argv0: binder?.path ?? spec.program,
      cwd: spec.wdir,
      env: keeper === undefined ? spec.env : { ...spec.env, ...keeper.environment },
      stdio: stdio.given,
      detached: spec.lifetime !== 'plain',
    });
  } catch (error) {
    stdio.abandon();
    throw error;
  }
}

/** Throws what spawn throws; calls `onFailed` for an error that spawn reports later. */
function launch(
  spec: SpawnSpec, found: Found, deps: ToolDeps, events: ProcessEvents, onFailed: (error: Error) => void,
): Started | undefined {
  const stdio = new ToolStdio(spec, deps.pipes);
  const child = start(spec, found, deps.keeper, stdio);
  if (child.pid !== undefined) return { child, pid: child.pid, streams: stdio.attach(child, events) };
  stdio.abandon();
  if (deps.pipes === undefined || deps.pipes.size === 0) {
    child.on('error', onFailed);
    return undefined;
  }
  // The pool may have used up the descriptors that the spawn needs.
  child.on('error', () => {});
  deps.pipes.drain();
  return launch(spec, found, { ...deps, pipes: undefined }, events, onFailed);
}

/** A failure is reported once, by `onError` only. */
export function spawnTool(spec: SpawnSpec, deps: ToolDeps, events: ProcessEvents): Process {
  const resolved = checkProgram(spec);
  if ('error' in resolved) return refused(events, resolved.error);
  const { path } = resolved;
  const bound = binderOf(spec);
  if ('error' in bound) return refused(events, bound.error);
  const unguarded = deps.keeper?.prepare();
  if (unguarded !== undefined) return refused(events, unguarded);
  let started: Started | undefined;
  try {
    started = launch(spec, { path, ...bound }, deps, events, (error) => events.onError(spawnError(spec, path, error)));
  } catch (error) {
    return refused(events, spawnError(spec, path, error));
  }
  if (started === undefined) return NO_PROCESS;
  deps.keeper?.add(started.pid);
  return new ToolProcess(started, deps.keeper, events);
}
