/**
 * A task is a line of execution of a simulated process: its main program, or a worker thread. Events belong to tasks:
 * a dead task's events are dropped, a stopped one's are kept and run when it goes on.
 */

import type { ProcessEnd } from '@stci/interface';
import type { EventOwner, SimEvent } from './event-queue.js';

/** Something that must be let go of when its task dies: channels, pipes, listeners. */
export interface Resource {
  release(): void;
}

/** Who is told of the end of a process or thread; its own task must live for that. */
export interface Watcher {
  readonly task: Task;
  onExit(end: ProcessEnd): void;
}

export class Task implements EventOwner {
  readonly id: number;
  /** For traces: `h1/100`. */
  readonly name: string;
  /** Set by a host crash: the far ends are not told of this task's death. */
  isSilent = false;
  /** Of a worker thread. */
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

  /** Gives back what was held, in order. */
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

  /** Nothing of it runs any more. After a silent death no peer is notified. */
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
