/**
 * Interface of a simulated program to its process: arguments, environment, standard streams, time, signals, children. A
 * program is a function that is called once, at the process's first step; everything later is a callback.
 */

import type { Channel, ProcessEnd, SignalName } from '@stci/interface';
import { Flow, FlowWriter } from './flow.js';
import type { SimProcess } from './process-table.js';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';

export type ToolProgram = (tool: Tool) => void;

export interface ForkOptions {
  /** Leaves the group, as a daemon does. */
  readonly ownSession?: boolean;
  /** Keeps the standard output and error of its parent open. Default: true. */
  readonly keepOutput?: boolean;
}

/** Services of a host's kernel for a tool. */
export interface ToolKernel {
  readonly scheduler: Scheduler;
  readonly hostname: string;
  end(process: SimProcess, end: ProcessEnd): void;
  signal(process: SimProcess, name: SignalName): void;
  /** Connects to a private socket of its host. */
  connect(process: SimProcess, path: string): Channel;
  /** … to a port of its host's loopback. */
  connectLoopback(process: SimProcess, port: number): Channel;
  fork(parent: SimProcess, command: readonly string[], streams: ToolStreams, ownSession: boolean): void;
}

/** The flows behind descriptors 0, 1 and 2; undefined: /dev/null. And what it has inherited as descriptor 3. */
export interface ToolStreams {
  readonly stdin?: Flow | undefined;
  readonly stdout?: Flow | undefined;
  readonly stderr?: Flow | undefined;
  readonly socket?: Channel | undefined;
}

export type OutputName = 'stdout' | 'stderr';

export class Tool {
  readonly process: SimProcess;
  readonly #kernel: ToolKernel;
  readonly #streams: ToolStreams;
  readonly #writers: Partial<Record<OutputName, FlowWriter>> = {};
  #onWritable: (() => void) | undefined;
  #exitStatus: number | undefined;

  constructor(kernel: ToolKernel, process: SimProcess, streams: ToolStreams) {
    this.process = process;
    this.#kernel = kernel;
    this.#streams = streams;
    this.#open('stdout', streams.stdout);
    this.#open('stderr', streams.stderr);
    const { stdin } = streams;
    if (stdin !== undefined) process.main.own({ release: () => stdin.closeReader() });
  }

  #open(name: OutputName, flow: Flow | undefined): void {
    if (flow === undefined) return;
    const writer = new FlowWriter(flow, this.process.main, 0);
    this.#writers[name] = writer;
    writer.setSource({
      onSpace: () => this.#space(),
      onBroken: () => this.#kernel.signal(this.process, 'SIGPIPE'),
    });
    this.process.main.own({ release: () => writer.drop() });
  }

  get args(): readonly string[] {
    return this.process.command.slice(1);
  }

  get env(): Readonly<Record<string, string>> {
    return this.process.env;
  }

  get hostname(): string {
    return this.#kernel.hostname;
  }

  /** Of the world: what a program notes for those who look on. */
  get nowMs(): number {
    return this.#kernel.scheduler.nowMs;
  }

  after(delayMs: number, call: () => void): void {
    this.#kernel.scheduler.after(new CallEvent(this.process.main, call, CODE.timer), delayMs);
  }

  /** Returns false if the pipe is full and the program would block; wait for `onWritable`. */
  write(name: OutputName, bytes: Uint8Array): boolean {
    const isBelow = this.#writers[name]?.send([bytes]) ?? true;
    // A program does not continue after a write to a closed pipe.
    return isBelow && this.#streams[name]?.isReaderGone !== true;
  }

  onWritable(call: () => void): void {
    this.#onWritable = call;
  }

  /** Starts reading standard input. */
  read(onBytes: (chunk: Uint8Array) => void, onEnd: () => void): void {
    const { stdin } = this.#streams;
    if (stdin === undefined) {
      this.after(0, onEnd);
      return;
    }
    stdin.setSink({ onBytes, onEnd });
    stdin.setReading(true);
  }

  /** Pauses and resumes reading, like a program that is busy. */
  reading(on: boolean): void {
    this.#streams.stdin?.setReading(on);
  }

  closeStdin(): void {
    this.#streams.stdin?.closeReader();
  }

  closeOutput(name: OutputName): void {
    this.#writers[name]?.drop();
  }

  onSignal(name: SignalName, handler: 'ignore' | (() => void)): void {
    this.process.handlers.set(name, handler);
  }

  /** Sends itself a signal, whose action follows. */
  raise(name: SignalName): void {
    this.#kernel.signal(this.process, name);
  }

  /** Connects to a private socket of its host. */
  connect(path: string): Channel {
    return this.#kernel.connect(this.process, path);
  }

  connectLoopback(port: number): Channel {
    return this.#kernel.connectLoopback(this.process, port);
  }

  /** Its end of the socket that it has inherited; children do not inherit it. */
  get socket(): Channel | undefined {
    return this.#streams.socket;
  }

  fork(command: readonly string[], options: ForkOptions = {}): void {
    const { stdout, stderr } = this.#streams;
    const streams = (options.keepOutput ?? true) ? { stdout, stderr } : {};
    this.#kernel.fork(this.process, command, streams, options.ownSession === true);
  }

  /** Ends the process after writing its queued output, as a blocking write would. */
  exit(status: number): void {
    this.#exitStatus = status;
    if (this.#isFlushed()) this.#kernel.end(this.process, { status });
  }

  #isFlushed(): boolean {
    return Object.values(this.#writers).every((writer) => writer.queuedBytes === 0);
  }

  #space(): void {
    if (this.#exitStatus === undefined) this.#onWritable?.();
    else if (this.#isFlushed()) this.#kernel.end(this.process, { status: this.#exitStatus });
  }
}

/** A byte for each character, its code's lowest. */
export function textBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index) & 0xff;
  return bytes;
}
