/** A tool for its agent: the handle that `Processes.spawn` returns, with the agent's ends of the three pipes. */

import type { Channel, Process, ProcessEvents, SignalName } from '@stci/interface';
import { FlowWriter, type Flow } from './flow.js';
import type { ProcessTable, SimProcess } from './process-table.js';
import { CallEvent, CODE } from './scheduler.js';
import type { Task } from './task.js';
import type { OutputName, ToolStreams } from './tool.js';

/** Handle of a process that could not be started. */
export const NO_PROCESS: Process = {
  pid: 0,
  signal: () => false,
  groupSize: () => 0,
  groupMembers: () => [],
  writeStdin: () => true,
  closeStdin: () => undefined,
  hasReadInput: () => false,
  readable: () => undefined,
  closeOutput: () => undefined,
};

export interface SpawnedInit {
  readonly table: ProcessTable;
  readonly process: SimProcess;
  readonly owner: Task;
  readonly events: ProcessEvents;
  readonly streams: ToolStreams;
  readonly isGuarded: boolean;
  readonly wallMs: () => number;
  readonly socket: Channel | undefined;
}

export class SpawnedTool implements Process {
  readonly pid: number;
  readonly socket: Channel | undefined;
  readonly #init: SpawnedInit;
  readonly #outputs: [OutputName, Flow][] = [];
  readonly #stdin: FlowWriter | undefined;
  #isStdinClosed = false;

  constructor(init: SpawnedInit) {
    this.#init = init;
    this.pid = init.process.pid;
    this.socket = init.socket;
    const { stdin, stdout, stderr } = init.streams;
    if (stdout !== undefined) this.#watch('stdout', stdout);
    if (stderr !== undefined) this.#watch('stderr', stderr);
    if (stdin !== undefined) this.#stdin = this.#feed(stdin);
  }

  #watch(name: OutputName, flow: Flow): void {
    const { owner, events, wallMs } = this.#init;
    this.#outputs.push([name, flow]);
    owner.own({ release: () => flow.closeReader() });
    flow.setSink({
      onBytes: (chunk) => events.onOutput(name, chunk, wallMs()),
      onEnd: () => events.onOutputEnd(name),
    });
  }

  #feed(flow: Flow): FlowWriter {
    const { owner, events } = this.#init;
    const writer = new FlowWriter(flow, owner, 0);
    owner.own({ release: () => writer.drop() });
    writer.setSource({ onSpace: () => events.onStdinDrain(), onBroken: () => this.stdinGone() });
    return writer;
  }

  /** The tool has closed its standard input. */
  stdinGone(): void {
    if (this.#stdin === undefined || this.#isStdinClosed) return;
    this.#isStdinClosed = true;
    this.#stdin.drop();
    this.#init.events.onStdinClosed();
  }

  signal(name: SignalName, whom: 'process' | 'group'): boolean {
    const { table, process, isGuarded } = this.#init;
    return whom === 'group' && isGuarded ? table.signalGroup(process.group, name) : table.signal(process, name);
  }

  groupSize(): number {
    const { table, process, isGuarded } = this.#init;
    if (isGuarded) return table.groupSize(process.group);
    return process.isAlive ? 1 : 0;
  }

  groupMembers(): readonly number[] {
    const { table, process } = this.#init;
    return [...table.living].filter(({ group }) => group === process.group).map(({ pid }) => pid);
  }

  writeStdin(chunk: Uint8Array): boolean {
    if (this.#stdin === undefined || this.#isStdinClosed) return true;
    return this.#stdin.send([chunk]);
  }

  closeStdin(): void {
    if (this.#isStdinClosed) return;
    this.#isStdinClosed = true;
    this.#stdin?.end();
  }

  hasReadInput(): boolean {
    return (this.#init.streams.stdin?.deliveredBytes ?? 0) > 0;
  }

  readable(on: boolean): void {
    for (const [, flow] of this.#outputs) flow.setReading(on);
  }

  closeOutput(): void {
    const { owner, events } = this.#init;
    for (const [name, flow] of this.#outputs) {
      if (flow.isEnded || flow.isReaderGone) continue;
      flow.closeReader();
      flow.scheduler.turn(new CallEvent(owner, () => events.onOutputEnd(name), CODE.close));
    }
  }
}
