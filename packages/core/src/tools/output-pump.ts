/**
 * Output pump: the tools of one session agent share one window of credit on the job's stream. When it is used up, all
 * of them stop being read; when credit returns, they are resumed in the order in which they were stopped, a few at a
 * time, so that a loud rank cannot starve the others.
 */

import type { Tool } from './tool.js';

/** Credit that one resumed tool is expected to use at once: a full read of its pipe. */
const READ_BYTES = 64 * 1024;

export interface OutputPumpInit {
  /** Whether more may be sent now. */
  available(): boolean;
  /** Calls back in a later turn. */
  soon(call: () => void): void;
  /** Bytes of one window. */
  readonly creditBytes: number;
}

export class OutputPump {
  readonly #init: OutputPumpInit;
  readonly #reading = new Set<Tool>();
  readonly #stopped = new Set<Tool>();
  #discarding = false;
  #scheduled = false;

  constructor(init: OutputPumpInit) {
    this.#init = init;
  }

  /** Registers a tool that has just been started. */
  add(tool: Tool): void {
    if (this.#discarding || this.#init.available()) this.#resume(tool);
    else this.#stopped.add(tool);
  }

  remove(tool: Tool): void {
    this.#reading.delete(tool);
    this.#stopped.delete(tool);
  }

  /** The credit is used up. */
  stopAll(): void {
    if (this.#discarding) return;
    for (const tool of this.#reading) {
      tool.readable(false);
      this.#stopped.add(tool);
    }
    this.#reading.clear();
  }

  /**
   * Credit returned: half a window, as the receiver grants it. What is left of it after a turn goes to the next tools:
   * if the resumed ones have no output, no more credit would return.
   */
  resumeSome(): void {
    if (this.#stopped.size === 0 || !this.#init.available()) return;
    this.#scheduleNext();
    let count = Math.max(1, Math.floor(this.#init.creditBytes / 2 / READ_BYTES));
    for (const tool of this.#stopped) {
      if (count === 0) return;
      count -= 1;
      this.#resume(tool);
    }
  }

  #scheduleNext(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#init.soon(() => {
      this.#scheduled = false;
      this.resumeSome();
    });
  }

  /** There is no receiver any more: the tools are still read, so that they can end. */
  discard(): void {
    this.#discarding = true;
    for (const tool of this.#stopped) this.#resume(tool);
  }

  get discarding(): boolean {
    return this.#discarding;
  }

  #resume(tool: Tool): void {
    this.#stopped.delete(tool);
    this.#reading.add(tool);
    tool.readable(true);
  }
}
