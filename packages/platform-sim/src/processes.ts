/** Processes of one task: starts tools and agents on its host. */

import type {
  AgentBundle,
  AgentProcess,
  AgentProcessEvents,
  ErrorRecord,
  Process,
  ProcessEvents,
  Processes,
  SpawnSpec,
} from '@stci/interface';
import { sha256 } from '@stci/interface';
import { joinChannels, type ChannelPair } from './channel.js';
import { Flow } from './flow.js';
import type { SimHost } from './host.js';
import type { SimProcess } from './process-table.js';
import { CallEvent, CODE } from './scheduler.js';
import { NO_PROCESS, SpawnedTool } from './spawned-tool.js';
import type { Task } from './task.js';
import type { ToolStreams } from './tool.js';

/** A placeholder that is never executed: agents are built into simulated hosts. */
const BUNDLE_BYTES = new Uint8Array(4096).fill(0x2a);
let bundle: AgentBundle | undefined;

export class SimProcesses implements Processes {
  readonly agentCommand: readonly string[] = ['stci-agent'];
  readonly #host: SimHost;
  readonly #process: SimProcess;
  readonly #task: Task;

  constructor(host: SimHost, process: SimProcess, task: Task) {
    this.#host = host;
    this.#process = process;
    this.#task = task;
  }

  agentBundle(): AgentBundle {
    return (bundle ??= { hash: hex(sha256(BUNDLE_BYTES)), bytes: BUNDLE_BYTES, node: '/bin/node', holder: '' });
  }

  spawn(spec: SpawnSpec, events: ProcessEvents): Process {
    const host = this.#host;
    const wdir = spec.wdir ?? this.#process.wdir;
    const found = host.files.findProgram(spec.program, spec.env);
    const error = host.files.checkDirectory(wdir) ?? ('error' in found ? found.error : host.checkRoom());
    if (error !== undefined || 'error' in found) return this.#refuse(events, error as ErrorRecord);
    const isGuarded = spec.lifetime === 'guarded';
    const streams = this.#streams(spec);
    const process: SimProcess = host.table.fork({
      parent: this.#process,
      group: isGuarded ? 'own' : 'parent',
      command: [spec.program, ...spec.args],
      env: isGuarded ? { ...spec.env, ...host.table.guardEnv(this.#task) } : spec.env,
      wdir,
      watcher: { task: this.#task, onExit: (end) => events.onExit(end) },
    });
    if (isGuarded) host.table.guard(this.#task, process);
    const { stdin } = streams;
    if (stdin !== undefined) stdin.reader = process.main;
    const socket = spec.hasSocket === true ? this.#socketTo(process) : undefined;
    host.startTool(process, { ...streams, socket: socket?.right }, found.run);
    const wallMs = (): number => host.wallMs();
    const tool = new SpawnedTool({
      table: host.table, process, owner: this.#task, events, streams, isGuarded, wallMs, socket: socket?.left,
    });
    if (stdin !== undefined) process.main.own({ release: () => this.#after(() => tool.stdinGone()) });
    return tool;
  }

  #streams(spec: SpawnSpec): ToolStreams {
    const pipe = (mode: string): Flow | undefined => (mode === 'pipe' ? this.#host.world.pipe(this.#task) : undefined);
    return { stdin: pipe(spec.stdin), stdout: pipe(spec.stdout), stderr: pipe(spec.stderr) };
  }

  #socketTo(process: SimProcess): ChannelPair {
    const { world } = this.#host;
    const init = world.flowInit(world.fabric.pipes, world.sizes.pipeBytes, 'program');
    const near = { kind: 'socket', label: `process ${process.pid}`, task: this.#task };
    return joinChannels(init, world.sizes.markBytes, near, { kind: 'socket', label: 'agent', task: process.main });
  }

  #refuse(events: ProcessEvents, error: ErrorRecord): Process {
    this.#after(() => events.onError(error));
    return NO_PROCESS;
  }

  #after(call: () => void): void {
    this.#host.scheduler.turn(new CallEvent(this.#task, call, CODE.turn));
  }

  spawnAgent(method: 'process' | 'thread', command: readonly string[], events: AgentProcessEvents): AgentProcess {
    const main = this.#host.world.findAgent(command[0] ?? '');
    const error = main === undefined ? this.#noAgent(command) : this.#host.checkRoom();
    if (error !== undefined || main === undefined) return this.#refuseAgent(events, error as ErrorRecord);
    const { host, process, task } = method === 'process' ? this.#forkAgent(command, events) : this.#newThread(events);
    const { world } = host;
    const init = world.flowInit(world.fabric.pipes, world.sizes.pipeBytes);
    const kind = method === 'process' ? 'stdio' : 'thread';
    const pair = joinChannels(
      init,
      world.sizes.markBytes,
      { kind, label: `process ${process.pid}`, task: this.#task },
      { kind, label: 'parent', task },
    );
    const onDiagnostic = (line: string): void => this.#after(() => events.onDiagnostic(line));
    host.startAgent(process, task, main, { channel: pair.right, args: command.slice(1), onDiagnostic });
    const kill = (): void => {
      if (method === 'process') host.table.signal(process, 'SIGKILL');
      else world.endThread(host, process, task, { status: 1 });
    };
    return { pid: process.pid, channel: pair.left, kill };
  }

  #noAgent(command: readonly string[]): ErrorRecord {
    const program = command[0] ?? '';
    const message = `An agent process could not be started: ${program}: no such program.`;
    return { code: 'STCI_PROGRAM_SPAWN', message, data: { program } };
  }

  #refuseAgent(events: AgentProcessEvents, error: ErrorRecord): AgentProcess {
    this.#after(() => events.onError(error));
    const { world } = this.#host;
    const init = world.flowInit(world.fabric.pipes, world.sizes.pipeBytes);
    const unowned = this.#host.table.newTask(0);
    const pair = joinChannels(
      init,
      world.sizes.markBytes,
      { kind: 'stdio', label: 'no child', task: this.#task },
      { kind: 'stdio', label: 'nobody', task: unowned },
    );
    pair.left.destroy(error.message);
    return { pid: 0, channel: pair.left, kill: () => undefined };
  }

  #forkAgent(
    command: readonly string[],
    events: AgentProcessEvents,
  ): { host: SimHost; process: SimProcess; task: Task } {
    const process = this.#host.table.fork({
      parent: this.#process,
      group: 'own',
      command,
      env: this.#process.env,
      wdir: this.#process.wdir,
      watcher: { task: this.#task, onExit: (end) => events.onExit(end) },
    });
    return { host: this.#host, process, task: process.main };
  }

  #newThread(events: AgentProcessEvents): { host: SimHost; process: SimProcess; task: Task } {
    const process = this.#process;
    const task = this.#host.table.newTask(process.pid);
    task.watcher = { task: this.#task, onExit: (end) => events.onExit(end) };
    process.tasks.push(task);
    return { host: this.#host, process, task };
  }

  /** The first start takes no longer than others here. */
  prepare(): void {}

  /** There is no memory to share. */
  shareMemory(): void {}

  killSelf(): void {
    this.#host.table.signal(this.#process, 'SIGKILL');
  }

  stopSelf(forMs: number, ready: (error: ErrorRecord | undefined, go: (isWanted: boolean) => void) => void): void {
    const { scheduler, table } = this.#host;
    const stop = (): void => this.#after(() => {
      table.signal(this.#process, 'SIGSTOP');
      scheduler.call(undefined, forMs, () => table.signal(this.#process, 'SIGCONT'));
    });
    this.#after(() => ready(undefined, (isWanted) => isWanted && stop()));
  }

  sweep(mark: string, _deadlineMs: number, done: (ended: number) => void): void {
    this.#after(() => {
      const ended = this.#host.table.sweep(mark);
      const answer = new CallEvent(this.#task, () => done(ended), CODE.call);
      this.#host.scheduler.after(answer, 2 * this.#host.world.times.signalMs);
    });
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
