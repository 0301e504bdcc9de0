/** A simulated host: name, clocks, files, process table, and the kernel's part in starting tools and agents. */

import type { AgentProcess, AgentProcessEvents, Channel, ErrorRecord } from '@stci/interface';
import type { LogLevel, Network, Platform, ProcessEnd, SignalName } from '@stci/interface';
import { Files } from './files.js';
import type { Flow, FlowInit, FlowUse } from './flow.js';
import type { Link } from './link.js';
import type { Fabric } from './fabric.js';
import { ProcessTable, type ProcessInit, type SimProcess } from './process-table.js';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';
import type { SimRandom } from './random.js';
import type { Task } from './task.js';
import { Tool, type ToolKernel, type ToolStreams } from './tool.js';
import { GUARD_VARIABLE, type WorldSizes, type WorldTimes } from './world-options.js';

/** How long a tool waits for a connection. */
const CONNECT_MS = 60_000;

/** Argument of an agent's main program. */
export interface AgentContext {
  readonly platform: Platform;
  /** Standard input and output of the agent. */
  readonly channel: Channel;
  /** Without the program's name. */
  readonly args: readonly string[];
  /** Starts a program on another host over the network; for simulated remote logins. */
  startOn(host: string, command: readonly string[], events: AgentProcessEvents): AgentProcess;
  exit(status: number): void;
  onSignal(name: SignalName, handler: 'ignore' | (() => void)): void;
  /** Writes a line to standard error. */
  diagnostic(line: string): void;
}

/** A platform whose network connects to loopback, as programs do. */
export interface SimPlatform extends Platform {
  readonly network: Network & { connectLoopback(port: number, deadlineMs: number): Channel };
}

export type AgentMain = (context: AgentContext) => void;

/** Consumers of an agent's diagnostics and streams. */
export interface AgentEnds {
  readonly channel: Channel;
  readonly args: readonly string[];
  readonly onDiagnostic: (line: string) => void;
}

/** Shared by all parts of a world. */
export interface WorldCore {
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly times: WorldTimes;
  readonly sizes: WorldSizes;
  readonly fabric: Fabric;
  readonly wallStartMs: number;
  readonly cpuCount: number;
  readonly logLevel: LogLevel;
  readonly nextTaskId: () => number;
  findHost(name: string): SimHost | undefined;
  /** The main program registered under a name. */
  findAgent(name: string): AgentMain | undefined;
  flowInit(link: Link, capacityBytes: number, use?: FlowUse): FlowInit;
  pipe(reader: Task): Flow;
  endThread(host: SimHost, process: SimProcess, task: Task, end: ProcessEnd): void;
  createPlatform(host: SimHost, process: SimProcess, task: Task): SimPlatform;
  startRemote(
    near: { readonly host: SimHost; readonly task: Task },
    hostName: string,
    command: readonly string[],
    events: AgentProcessEvents,
  ): AgentProcess;
  log(task: Task, level: LogLevel, text: string): void;
}

export class SimHost implements ToolKernel {
  readonly name: string;
  readonly world: WorldCore;
  readonly table: ProcessTable;
  readonly files = new Files();
  /** Texts of the system, such as of its processors, by path. */
  readonly system = new Map<string, string>();
  readonly random: SimRandom;
  /** This host's clocks are ahead of the virtual time by this. */
  monotonicOffsetMs = 0;
  wallOffsetMs = 0;
  nextPort = 40_000;
  isCrashed = false;
  #forkFreeAtMs = 0;

  constructor(world: WorldCore, name: string) {
    this.world = world;
    this.name = name;
    this.random = world.random.fork(`host ${name}`);
    const { scheduler, times, nextTaskId } = world;
    const random = this.random.fork('table');
    this.table = new ProcessTable({ host: name, scheduler, random, times, guardVariable: GUARD_VARIABLE, nextTaskId });
  }

  get scheduler(): Scheduler {
    return this.world.scheduler;
  }

  get hostname(): string {
    return this.name;
  }

  nowMs(): number {
    return this.scheduler.nowMs + this.monotonicOffsetMs;
  }

  wallMs(): number {
    return this.world.wallStartMs + this.scheduler.nowMs + this.wallOffsetMs;
  }

  end(process: SimProcess, end: ProcessEnd): void {
    this.table.end(process, end);
  }

  signal(process: SimProcess, name: SignalName): void {
    this.table.signal(process, name);
  }

  connect(process: SimProcess, path: string): Channel {
    return this.world.createPlatform(this, process, process.main).network.connectPrivate(path, CONNECT_MS);
  }

  connectLoopback(process: SimProcess, port: number): Channel {
    return this.world.createPlatform(this, process, process.main).network.connectLoopback(port, CONNECT_MS);
  }

  /** Starts a child of a tool. A program that does not exist ends with 127, as in a shell. */
  fork(parent: SimProcess, command: readonly string[], streams: ToolStreams, ownSession: boolean): void {
    const { env, wdir } = parent;
    const process = this.table.fork({ parent, group: ownSession ? 'own' : 'parent', command, env, wdir });
    const found = this.files.findProgram(command[0] ?? '', env);
    this.startTool(process, streams, 'run' in found ? found.run : (tool) => tool.exit(127));
  }

  /** Returns an error if the process table is full. */
  checkRoom(): ErrorRecord | undefined {
    if (this.table.livingCount < this.world.sizes.processesMax) return undefined;
    const limit = this.world.sizes.processesMax;
    const message = `No process can be started on ${this.name}: the limit of ${limit} is reached.`;
    return { code: 'STCI_PROGRAM_SPAWN', message };
  }

  startTool(process: SimProcess, streams: ToolStreams, run: (tool: Tool) => void): void {
    const tool = new Tool(this, process, streams);
    this.#begin(process.main, () => run(tool));
  }

  startAgent(process: SimProcess, task: Task, main: AgentMain, ends: AgentEnds): void {
    const isMain = task === process.main;
    const context: AgentContext = {
      platform: this.world.createPlatform(this, process, task),
      channel: ends.channel,
      args: ends.args,
      startOn: (host, command, events) => this.world.startRemote({ host: this, task }, host, command, events),
      exit: (status) =>
        (isMain ? this.table.end(process, { status }) : this.world.endThread(this, process, task, { status })),
      onSignal: (name, handler) => process.handlers.set(name, handler),
      diagnostic: ends.onDiagnostic,
    };
    this.#begin(task, () => main(context));
  }

  /** A process without a parent, started by the world: a front-end, a test. */
  startRoot(command: readonly string[], env: Readonly<Record<string, string>>): SimProcess {
    const init: ProcessInit = { parent: undefined, group: 'own', command, env, wdir: '/' };
    return this.table.fork(init);
  }

  /** Forks of a host take their time one after another. */
  #begin(task: Task, run: () => void): void {
    const durationMs = this.random.between(...this.world.times.spawnMs);
    const startMs = Math.max(this.scheduler.nowMs, this.#forkFreeAtMs);
    this.#forkFreeAtMs = startMs + durationMs / this.world.cpuCount;
    this.scheduler.at(new CallEvent(task, run, CODE.start), startMs + durationMs);
  }
}
