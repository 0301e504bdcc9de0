/**
 * A tool: the user's program with its pipes, its own session and process group. A group outlives its leader, and
 * the number of one that is gone may be given to strangers, so after the leader's end a group is looked at before
 * it is signalled, and once seen empty never touched again.
 */

import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { ErrorRecord, Process, ProcessEvents, SignalName, SpawnSpec, StdioMode } from '@stci/interface';
import { builtin } from './builtin.js';
import { OutputPipe } from './output-pipe.js';
import { liveGroup } from './proc.js';
import { checkWdir, resolveProgram, spawnError } from './program.js';

/** Keeps the group of a guarded tool known to whoever ends it when this process dies. */
export interface GroupKeeper {
  /** Variables that the tool's environment must hold. */
  readonly environment: Readonly<Record<string, string>>;
  /** Before the fork; an error means that the tool must not be started. */
  prepare(): ErrorRecord | undefined;
  add(group: number): void;
  remove(group: number): void;
}

const STDIO = { pipe: 'pipe', null: 'ignore', inherit: 'inherit' } as const satisfies Record<StdioMode, string>;

/** How often the group of a tool that has ended is looked at while it has members, in ms. */
const GROUP_LOOK_MS = 2000;

/** What stands for a process that could not be started. */
const NO_PROCESS: Process = {
  pid: 0,
  signal: () => false,
  groupAlive: () => false,
  writeStdin: () => true,
  closeStdin: () => {},
  readable: () => {},
  closeOutput: () => {},
};

class ToolProcess implements Process {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #keeper: GroupKeeper | undefined;
  readonly #outputs: OutputPipe[] = [];
  #exited = false;
  #groupGone = false;
  #stdinClosed = false;

  constructor(child: ChildProcess, pid: number, keeper: GroupKeeper | undefined, events: ProcessEvents) {
    this.pid = pid;
    this.#child = child;
    this.#keeper = keeper;
    if (child.stdout !== null) this.#outputs.push(new OutputPipe('stdout', child.stdout, events));
    if (child.stderr !== null) this.#outputs.push(new OutputPipe('stderr', child.stderr, events));
    if (child.stdin !== null) this.#watchStdin(child.stdin, events);
    // At a child's end Node resumes all streams of this list, paused or not; what is paused must stay so.
    (child.stdio as unknown[]).fill(null);
    child.on('exit', (status, signal) => {
      this.#exited = true;
      this.#watchGroup();
      events.onExit(signal !== null ? { signal } : { status: status ?? 0 });
    });
    // What can fail after the start (a signal that may not be sent) is told where it is called.
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
    if (!this.groupAlive()) return false;
    try {
      process.kill(-this.pid, name);
      return true;
    } catch {
      return false;
    }
  }

  groupAlive(): boolean {
    if (!this.#exited) return true;
    if (this.#groupGone) return false;
    if (this.#keeper !== undefined && liveGroup(this.pid)) return true;
    this.#groupGone = true;
    this.#keeper?.remove(this.pid);
    return false;
  }

  /** What a leader leaves behind is looked at until it is gone, so that its number is forgotten in time. */
  #watchGroup(): void {
    if (this.groupAlive()) setTimeout(() => this.#watchGroup(), GROUP_LOOK_MS).unref();
  }

  writeStdin(chunk: Uint8Array): boolean {
    const stdin = this.#child.stdin;
    if (stdin === null || this.#stdinClosed || stdin.writableEnded) return true;
    return stdin.write(chunk);
  }

  closeStdin(): void {
    if (this.#stdinClosed) return;
    this.#child.stdin?.end(() => {
      this.#stdinClosed = true;
    });
  }

  readable(on: boolean): void {
    for (const output of this.#outputs) output.readable(on);
  }

  closeOutput(): void {
    for (const output of this.#outputs) output.close();
  }
}

function refused(events: ProcessEvents, error: ErrorRecord): Process {
  process.nextTick(() => events.onError(error));
  return NO_PROCESS;
}

function start(spec: SpawnSpec, path: string, keeper: GroupKeeper | undefined): ChildProcess {
  return builtin('node:child_process').spawn(path, spec.args, {
    argv0: spec.program,
    cwd: spec.wdir,
    env: keeper === undefined ? spec.env : { ...spec.env, ...keeper.environment },
    stdio: [STDIO[spec.stdin], STDIO[spec.stdout], STDIO[spec.stderr]],
    detached: keeper !== undefined,
  });
}

/** `keeper` for a guarded tool, undefined for a plain one. Failures come by `onError`, alone and once. */
export function spawnTool(spec: SpawnSpec, keeper: GroupKeeper | undefined, events: ProcessEvents): Process {
  const wrong = spec.wdir === undefined ? undefined : checkWdir(spec.wdir);
  if (wrong !== undefined) return refused(events, wrong);
  const resolved = resolveProgram(spec);
  if ('error' in resolved) return refused(events, resolved.error);
  const unguarded = keeper?.prepare();
  if (unguarded !== undefined) return refused(events, unguarded);
  let child: ChildProcess;
  try {
    child = start(spec, resolved.path, keeper);
  } catch (error) {
    return refused(events, spawnError(spec, resolved.path, error));
  }
  if (child.pid === undefined) {
    child.on('error', (error) => events.onError(spawnError(spec, resolved.path, error)));
    return NO_PROCESS;
  }
  keeper?.add(child.pid);
  return new ToolProcess(child, child.pid, keeper, events);
}
