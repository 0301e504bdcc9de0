/**
 * A host's process table: pids, parents, groups, sessions, signals, zombies, reaping, and the guardian that ends
 * guarded groups when their owner dies. The code of programs is elsewhere (tool.ts, programs.ts).
 */

import type { ProcessEnd, SignalName } from '@stci/interface';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';
import type { SimRandom } from './random.js';
import { Task, type Watcher } from './task.js';
import type { WorldTimes } from './world-options.js';

export type ProcessState = 'running' | 'zombie' | 'reaped';

export interface ProcessInit {
  readonly parent: SimProcess | undefined;
  /** `own`: new session and group. `parent`: the parent's. `group`: a new group in the parent's session. */
  readonly group: 'own' | 'parent' | 'group';
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly wdir: string;
  readonly watcher?: Watcher;
}

/** A process; the table keeps it until the end of the world. */
export class SimProcess {
  readonly pid: number;
  readonly host: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly wdir: string;
  /** Threads; the first is the main program's. */
  readonly tasks: Task[];
  readonly handlers = new Map<SignalName, 'ignore' | (() => void)>();
  /** Like a process in a system call that does not return, or another user's. */
  isUnkillable = false;
  readonly pendingSignals: SignalName[] = [];
  readonly startMs: number;
  group: number;
  session: number;
  parent: SimProcess | undefined;
  children = new Set<SimProcess>();
  watcher: Watcher | undefined;
  state: ProcessState = 'running';
  end: ProcessEnd | undefined;
  endMs: number | undefined;
  reapedMs: number | undefined;

  constructor(host: string, pid: number, startMs: number, main: Task, init: ProcessInit) {
    this.host = host;
    this.pid = pid;
    this.startMs = startMs;
    this.tasks = [main];
    this.command = init.command;
    this.env = init.env;
    this.wdir = init.wdir;
    this.parent = init.parent;
    this.watcher = init.watcher;
    this.group = init.group === 'parent' && init.parent !== undefined ? init.parent.group : pid;
    this.session = init.group === 'own' || init.parent === undefined ? pid : init.parent.session;
  }

  get main(): Task {
    return this.tasks[0] as Task;
  }

  get isAlive(): boolean {
    return this.state === 'running';
  }

  get isStopped(): boolean {
    return this.main.paused;
  }
}

const IGNORED: ReadonlySet<string> = new Set(['SIGCHLD', 'SIGURG', 'SIGWINCH', 'SIGCONT']);
const STOPPING: ReadonlySet<string> = new Set(['SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU']);
const FIRST_PID = 100;
const GUARDIAN_QUIET_ROUNDS = 2;
const GUARDIAN_ROUND_MS = 20;

export interface TableInit {
  readonly host: string;
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly times: WorldTimes;
  readonly guardVariable: string;
  readonly nextTaskId: () => number;
}

export class ProcessTable {
  readonly all: SimProcess[] = [];
  readonly #init: TableInit;
  readonly #living = new Map<number, SimProcess>();
  readonly #guarded = new Map<Task, SimProcess[]>();
  readonly #environs = new WeakMap<object, string>();
  #nextPid = FIRST_PID;

  constructor(init: TableInit) {
    this.#init = init;
  }

  get living(): Iterable<SimProcess> {
    return this.#living.values();
  }

  get livingCount(): number {
    return this.#living.size;
  }

  find(pid: number): SimProcess | undefined {
    return this.#living.get(pid);
  }

  fork(init: ProcessInit): SimProcess {
    const { host, scheduler } = this.#init;
    const pid = this.#nextPid++;
    const process = new SimProcess(host, pid, scheduler.nowMs, this.newTask(pid), init);
    this.all.push(process);
    this.#living.set(pid, process);
    init.parent?.children.add(process);
    if (scheduler.onTrace !== undefined) {
      scheduler.say(`${host}/${pid} is task ${process.main.id}: ${init.command.join(' ')}`);
    }
    return process;
  }

  newTask(pid: number): Task {
    return new Task(this.#init.nextTaskId(), `${this.#init.host}/${pid}`);
  }

  /** The environment variable that marks the processes guarded for `owner`. */
  guardEnv(owner: Task): Readonly<Record<string, string>> {
    return { [this.#init.guardVariable]: `${this.#init.host}-${owner.id}` };
  }

  /** When `owner` dies, the group of `process` is ended, and so are all that carry the mark of `guardEnv`. */
  guard(owner: Task, process: SimProcess): void {
    const list = this.#guarded.get(owner);
    if (list === undefined) this.#guarded.set(owner, [process]);
    else list.push(process);
  }

  groupSize(group: number): number {
    let size = 0;
    for (const process of this.#living.values()) if (process.group === group) size++;
    return size;
  }

  /** False if no process was left to receive it. */
  signalGroup(group: number, name: SignalName): boolean {
    let found = false;
    for (const process of [...this.#living.values()]) {
      if (process.group === group) found = this.signal(process, name) || found;
    }
    return found;
  }

  signal(process: SimProcess, name: SignalName): boolean {
    if (!process.isAlive) return false;
    const event = new CallEvent(undefined, () => this.#take(process, name), CODE.signal);
    this.#init.scheduler.after(event, this.#init.times.signalMs);
    return true;
  }

  #take(process: SimProcess, name: SignalName): void {
    if (!process.isAlive || process.isUnkillable) return;
    if (name === 'SIGKILL') {
      this.end(process, { signal: name });
      return;
    }
    if (name === 'SIGCONT') this.resume(process);
    if (process.isStopped) {
      process.pendingSignals.push(name);
      return;
    }
    const handler = name === 'SIGSTOP' ? undefined : process.handlers.get(name);
    if (handler === 'ignore') return;
    if (handler !== undefined) this.#init.scheduler.after(new CallEvent(process.main, handler, CODE.signal), 0);
    else if (STOPPING.has(name)) this.pause(process);
    else if (!IGNORED.has(name)) this.end(process, { signal: name });
  }

  pause(process: SimProcess): void {
    for (const task of process.tasks) task.pause();
  }

  resume(process: SimProcess): void {
    if (!process.isAlive || !process.isStopped) return;
    for (const task of process.tasks) {
      for (const event of task.resume()) this.#init.scheduler.after(event, 0);
    }
    for (const name of process.pendingSignals.splice(0)) this.#take(process, name);
  }

  /** Ends the process. `silent`: its host crashed, no parent is notified. */
  end(process: SimProcess, end: ProcessEnd, silent = false): void {
    if (!process.isAlive) return;
    const { scheduler } = this.#init;
    process.state = 'zombie';
    process.end = end;
    process.endMs = scheduler.nowMs;
    this.#living.delete(process.pid);
    scheduler.note(process.pid, end.status ?? 255);
    if (scheduler.onTrace !== undefined) {
      scheduler.say(`${this.#init.host}/${process.pid} ended ${JSON.stringify(end)}`);
    }
    for (const task of process.tasks) this.#endTask(task, silent);
    for (const child of process.children) {
      child.parent = undefined;
      if (child.state === 'zombie') this.#reap(child);
    }
    process.children.clear();
    if (silent || process.parent === undefined) this.#reap(process);
    if (!silent) this.#notify(process, end);
  }

  /** Ends a worker thread and its guarded processes; the process continues. */
  endThread(process: SimProcess, task: Task): void {
    if (!task.alive) return;
    process.tasks.splice(process.tasks.indexOf(task), 1);
    this.#endTask(task, false);
  }

  #endTask(task: Task, silent: boolean): void {
    task.die(silent);
    const guarded = this.#guarded.get(task);
    this.#guarded.delete(task);
    if (silent || guarded === undefined) return;
    const { scheduler, random, times } = this.#init;
    const look = (): void => this.#endGuarded(task, guarded, GUARDIAN_QUIET_ROUNDS);
    scheduler.call(undefined, random.between(...times.guardianMs), look);
  }

  /** Repeats until no process is left: one that is being killed may have forked just before. */
  #endGuarded(owner: Task, guarded: readonly SimProcess[], quietRounds: number): void {
    const { guardVariable } = this.#init;
    const groups = new Set(guarded.map((process) => process.group));
    const mark = this.guardEnv(owner)[guardVariable];
    let left = quietRounds - 1;
    for (const process of [...this.#living.values()]) {
      if (!groups.has(process.group) && process.env[guardVariable] !== mark) continue;
      this.signal(process, 'SIGKILL');
      left = GUARDIAN_QUIET_ROUNDS;
    }
    if (left === 0) return;
    this.#init.scheduler.call(undefined, GUARDIAN_ROUND_MS, () => this.#endGuarded(owner, guarded, left));
  }

  #notify(process: SimProcess, end: ProcessEnd): void {
    const { watcher } = process;
    if (watcher === undefined) return;
    const { scheduler, random, times } = this.#init;
    scheduler.after(new CallEvent(process.parent?.main ?? watcher.task, () => {
      this.#reap(process);
      if (watcher.task.alive) watcher.onExit(end);
    }, CODE.exit), random.between(...times.exitNoticeMs));
  }

  #reap(process: SimProcess): void {
    if (process.state !== 'zombie') return;
    process.state = 'reaped';
    process.reapedMs = this.#init.scheduler.nowMs;
    process.parent?.children.delete(process);
  }

  /** Sends SIGKILL to all with `mark` in their environment (`NAME=VALUE`, or a part of it); returns their number. */
  sweep(mark: string): number {
    let count = 0;
    for (const process of [...this.#living.values()]) {
      if (this.#environText(process).includes(mark) && this.signal(process, 'SIGKILL')) count++;
    }
    return count;
  }

  /** As in /proc/PID/environ. Processes share their environments: each text is built once. */
  #environText(process: SimProcess): string {
    let text = this.#environs.get(process.env);
    if (text === undefined) {
      text = Object.entries(process.env).map(([name, value]) => `${name}=${value}`).join('\0');
      this.#environs.set(process.env, text);
    }
    return text;
  }

  /** Ends all processes at once, without notifying other hosts. */
  crash(): void {
    for (const process of [...this.#living.values()]) this.end(process, { signal: 'SIGKILL' }, true);
  }
}
