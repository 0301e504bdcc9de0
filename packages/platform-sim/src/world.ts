/**
 * A world: simulated hosts on one event queue. The same seed, options and calls give the same run, byte for byte.
 * Faults are calls, made between two runs or at a virtual time (`at`).
 */

import type { LogLevel, Platform, ProcessEnd } from '@stci/interface';
import { Fabric } from './fabric.js';
import { Flow, type FlowInit, type FlowUse } from './flow.js';
import { SimHost, type AgentContext, type AgentMain, type SimPlatform, type WorldCore } from './host.js';
import type { Link, LinkParams } from './link.js';
import { createPlatform } from './platform.js';
import { startRemote } from './remote.js';
import type { SimProcess } from './process-table.js';
import { SimRandom } from './random.js';
import { CallEvent, CODE, Scheduler, type Fault, type RunLimits, type RunOutcome } from './scheduler.js';
import type { Task } from './task.js';
import type { ToolProgram } from './tool.js';
import {
  LINK,
  LOCAL_LINK,
  SIZES,
  TIMES,
  WALL_START_MS,
  type WorldOptions,
  type WorldSizes,
  type WorldTimes,
} from './world-options.js';

const CPU_COUNT = 4;

/** A line that simulated code wrote to its log. */
export interface LogLine {
  readonly timeMs: number;
  readonly task: string;
  readonly level: LogLevel;
  readonly text: string;
}

/** Lines kept; older ones are dropped. */
const LOG_LINES_MAX = 10_000;

export class World implements WorldCore {
  readonly scheduler = new Scheduler();
  readonly random: SimRandom;
  readonly times: WorldTimes;
  readonly sizes: WorldSizes;
  readonly fabric: Fabric;
  readonly wallStartMs: number;
  readonly cpuCount = CPU_COUNT;
  logLevel: LogLevel = 'warn';
  readonly logLines: LogLine[] = [];
  readonly #hosts = new Map<string, SimHost>();
  readonly #agents = new Map<string, AgentMain>();
  readonly #tools = new Map<string, ToolProgram>();
  readonly #flowRandom: SimRandom;
  readonly #flows: Flow[] = [];
  readonly #taskProcesses = new Map<number, [SimHost, SimProcess]>();
  #taskIds = 0;
  /** Called for each new flow: tests and checkers inspect the data in it. */
  onFlow: ((flow: Flow) => void) | undefined;

  constructor(options: WorldOptions) {
    this.random = new SimRandom(`seed ${options.seed}`);
    this.#flowRandom = this.random.fork('flows');
    this.times = { ...TIMES, ...options.times };
    this.sizes = { ...SIZES, ...options.sizes };
    this.fabric = new Fabric({ ...LINK, ...options.link }, { ...LOCAL_LINK, ...options.local });
    this.wallStartMs = options.wallStartMs ?? WALL_START_MS;
    this.scheduler.onFault = (fault) => this.#onFault(fault);
  }

  readonly startRemote = startRemote;
  readonly nextTaskId = (): number => ++this.#taskIds;

  get nowMs(): number {
    return this.scheduler.nowMs;
  }

  get traceHash(): string {
    return this.scheduler.traceHash;
  }

  /** Errors thrown by simulated code; each ended its process. */
  get faults(): readonly Fault[] {
    return this.scheduler.faults;
  }

  get hosts(): Iterable<SimHost> {
    return this.#hosts.values();
  }

  /** The host of that name, created at its first use. */
  host(name: string): SimHost {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      host = new SimHost(this, name);
      for (const [tool, run] of this.#tools) host.files.addProgram(tool, run);
      this.#hosts.set(name, host);
    }
    return host;
  }

  findHost(name: string): SimHost | undefined {
    return this.#hosts.get(name);
  }

  /** Registers on every host the program that `spawnAgent` starts under that name. */
  program(name: string, main: AgentMain): void {
    this.#agents.set(name, main);
  }

  /** Puts a program on every host where `spawn` finds it under that name. */
  tool(name: string, run: ToolProgram): void {
    this.#tools.set(name, run);
    for (const host of this.#hosts.values()) host.files.addProgram(name, run);
  }

  findAgent(name: string): AgentMain | undefined {
    return this.#agents.get(name);
  }

  /** Starts a process without a parent. `main` runs at its first step. */
  start(hostName: string, command: readonly string[], main: AgentMain, env: Record<string, string> = {}): SimProcess {
    const host = this.host(hostName);
    const process = host.startRoot(command, env);
    host.startAgent(process, process.main, main, {
      channel: this.#noChannel(),
      args: command.slice(1),
      onDiagnostic: () => undefined,
    });
    return process;
  }

  /** The platform of a new process without code of its own; for tests. */
  platform(hostName: string): Platform {
    let platform: Platform | undefined;
    this.start(hostName, ['test'], (context: AgentContext) => {
      platform = context.platform;
    });
    this.run({ until: () => platform !== undefined });
    return platform as Platform;
  }

  #noChannel(): AgentContext['channel'] {
    const none = (): never => {
      throw new Error('A process that the world started has no standard channel');
    };
    const silent = { bind: none, send: none, readable: none, close: none, destroy: none };
    return { kind: 'none', label: 'none', queuedBytes: 0, ...silent };
  }

  run(limits: RunLimits = {}): RunOutcome {
    return this.scheduler.run(limits);
  }

  /** Calls `call` at a virtual time: faults, inspections of the state. */
  at(timeMs: number, call: () => void): void {
    this.scheduler.at(new CallEvent(undefined, call), timeMs);
  }

  // Faults.

  /** Like `kill -SIGNAL`; SIGKILL by default. False if there is no such process. */
  killProcess(hostName: string, pid: number, signal: `SIG${string}` = 'SIGKILL'): boolean {
    const { table } = this.host(hostName);
    const process = table.find(pid);
    return process !== undefined && table.signal(process, signal);
  }

  pauseProcess(hostName: string, pid: number): void {
    this.killProcess(hostName, pid, 'SIGSTOP');
  }

  resumeProcess(hostName: string, pid: number): void {
    this.killProcess(hostName, pid, 'SIGCONT');
  }

  /** The host crashes: its processes are gone, and no peer is notified. */
  crashHost(name: string): void {
    const host = this.host(name);
    host.isCrashed = true;
    host.table.crash();
  }

  link(a: string, b: string): Link {
    return this.fabric.link(a, b);
  }

  cutLink(a: string, b: string): void {
    this.link(a, b).cut();
  }

  mendLink(a: string, b: string): void {
    this.link(a, b).mend();
  }

  slowLink(a: string, b: string, params: Partial<LinkParams>): void {
    const link = this.link(a, b);
    link.params = { ...link.params, ...params };
  }

  /** Cuts every link between a host of `left` and one of `right`; the function returned mends them. */
  partition(left: readonly string[], right: readonly string[]): () => void {
    const links = left.flatMap((a) => right.map((b) => this.link(a, b)));
    for (const link of links) link.cut();
    return () => {
      for (const link of links) link.mend();
    };
  }

  // Facts for checkers.

  /** Every process that was ever started, on all hosts. */
  processes(): readonly SimProcess[] {
    return [...this.#hosts.values()].flatMap((host) => host.table.all);
  }

  livingProcesses(): readonly SimProcess[] {
    return [...this.#hosts.values()].flatMap((host) => [...host.table.living]);
  }

  /** Chunks and bytes that were delivered, over all pipes and connections. */
  traffic(): { readonly flows: number; readonly chunks: number; readonly bytes: number } {
    let chunks = 0;
    let bytes = 0;
    for (const flow of this.#flows) {
      chunks += flow.deliveredChunks;
      bytes += flow.deliveredBytes;
    }
    return { flows: this.#flows.length, chunks, bytes };
  }

  // Internal to the world's parts.

  flowInit(link: Link, capacityBytes: number, use: FlowUse = 'channel'): FlowInit {
    const onMade = (flow: Flow): void => {
      this.#flows.push(flow);
      this.onFlow?.(flow);
    };
    return { scheduler: this.scheduler, random: this.#flowRandom, link, capacityBytes, use, onMade };
  }

  pipe(reader: Task): Flow {
    return new Flow(this.flowInit(this.fabric.pipes, this.sizes.pipeBytes, 'pipe'), reader);
  }

  createPlatform(host: SimHost, process: SimProcess, task: Task): SimPlatform {
    this.#taskProcesses.set(task.id, [host, process]);
    return createPlatform(host, process, task);
  }

  endThread(host: SimHost, process: SimProcess, task: Task, end: ProcessEnd): void {
    if (!task.alive) return;
    host.table.endThread(process, task);
    const { watcher } = task;
    if (watcher === undefined) return;
    this.scheduler.after(new CallEvent(watcher.task, () => watcher.onExit(end), CODE.exit), this.times.signalMs);
  }

  log(task: Task, level: LogLevel, text: string): void {
    if (this.logLines.length >= LOG_LINES_MAX) this.logLines.shift();
    this.logLines.push({ timeMs: this.nowMs, task: task.name, level, text });
    this.scheduler.say(`${task.name} ${level}: ${text}`);
  }

  /** An uncaught exception ends the process, or the thread, with status 1. */
  #onFault(fault: Fault): void {
    const owner = fault.owner === undefined ? undefined : this.#taskProcesses.get(fault.owner.id);
    if (owner === undefined) throw fault.error;
    const [host, process] = owner;
    const thread = process.tasks.find((task) => task.id === fault.owner?.id);
    if (thread === undefined || thread === process.main) host.table.end(process, { status: 1 });
    else this.endThread(host, process, thread, { status: 1 });
  }
}

export function createWorld(options: WorldOptions): World {
  return new World(options);
}
