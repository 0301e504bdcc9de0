/**
 * A task is a thread of a simulated process: its main program, or a worker thread. Events belong to tasks: those of a
 * dead task are dropped, those of a stopped one are held until it continues.
 */

import type { ProcessEnd } from '@stci/interface';
import type { EventOwner, SimEvent } from './event-queue.js';

/** What is to be released when its task dies: channels, pipes, listeners. */
export interface Resource {
  release(): void;
}

/** Notified of the end of a process or thread, if its own task is alive. */
export interface Watcher {
  readonly task: Task;
  onExit(end: ProcessEnd): void;
}

export class Task implements EventOwner {
  readonly id: number;
  /** For traces: `h1/100`. */
  readonly name: string;
  /** Set by a host crash: peers are not notified of this task's death. */
  isSilent = false;
  /** Ends a worker thread. */
  watcher: Watcher | undefined;
  #alive = true;
  #paused = false;
  #held: SimEvent[] = [];
  readonly #resources = new Set<Resource>();

  constructor(id: number, name: string) {
    this.id = id;
    this.name = name;
  }

  get alive(): boolean {
    return this.#alive;
  }

  get paused(): boolean {
    return this.#paused;
  }

  hold(event: SimEvent): void {
    this.#held.push(event);
  }

  pause(): void {
    this.#paused = true;
  }

  /** Returns the held events, in order. */
  resume(): readonly SimEvent[] {
    this.#paused = false;
    const held = this.#held;
    this.#held = [];
    return held;
  }

  own(resource: Resource): void {
    this.#resources.add(resource);
  }

  disown(resource: Resource): void {
    this.#resources.delete(resource);
  }

  /** Ends the task. After a silent death no peer is notified. */
  die(silent: boolean): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#held = [];
    this.isSilent = silent;
    if (silent) return;
    const resources = [...this.#resources];
    this.#resources.clear();
    for (const resource of resources) resource.release();
  }
}
