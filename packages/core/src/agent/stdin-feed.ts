/**
 * Standard input of one host's tools: chunks from the front-end, written to each tool that reads input. A chunk's
 * credit is released when the slowest reader has room again: a tool that does not read stops the front-end, and queues
 * stay bounded. An empty chunk ends the input.
 */

import type { Rank, StdinTo } from '@stci/interface';
import type { Tool } from './tool.js';

interface Waiting {
  readonly release: () => void;
  readonly missing: Set<Tool>;
}

export class StdinFeed {
  readonly #tools = new Set<Tool>();
  readonly #full = new Map<Tool, Waiting[]>();
  /** Chunks that arrived before a tool was started; written at its start. */
  readonly #early = new Map<Tool, Uint8Array[]>();
  readonly #onUnread: () => void;
  #ended = false;

  /** `onUnread`: no tool of this host reads input any longer. */
  constructor(onUnread: () => void) {
    this.#onUnread = onUnread;
  }

  /** Adds a tool that will read input, before its start. */
  add(tool: Tool): void {
    this.#tools.add(tool);
  }

  /** Removes a tool that reads none any longer. */
  remove(tool: Tool): void {
    if (!this.#tools.delete(tool)) return;
    this.#early.delete(tool);
    this.#settle(tool);
    if (this.#tools.size === 0) this.#onUnread();
  }

  push(chunk: Uint8Array, release: () => void): void {
    if (chunk.length === 0) {
      this.#ended = true;
      for (const tool of this.#tools) this.#close(tool);
      release();
      return;
    }
    const waiting: Waiting = { release, missing: new Set() };
    for (const tool of this.#tools) {
      if (this.#write(tool, chunk)) continue;
      waiting.missing.add(tool);
      const queue = this.#full.get(tool);
      if (queue === undefined) this.#full.set(tool, [waiting]);
      else queue.push(waiting);
    }
    if (waiting.missing.size === 0) release();
  }

  /** The tool's process has started. */
  onStarted(tool: Tool): void {
    const early = this.#early.get(tool) ?? [];
    this.#early.delete(tool);
    let room = true;
    for (const chunk of early) room = tool.writeStdin(chunk) && room;
    if (this.#ended) tool.closeStdin();
    if (room) this.#settle(tool);
  }

  onDrain(tool: Tool): void {
    this.#settle(tool);
  }

  #write(tool: Tool, chunk: Uint8Array): boolean {
    if (tool.pid > 0) return tool.writeStdin(chunk);
    const early = this.#early.get(tool);
    if (early === undefined) this.#early.set(tool, [chunk]);
    else early.push(chunk);
    return false;
  }

  #close(tool: Tool): void {
    if (tool.pid > 0) tool.closeStdin();
  }

  #settle(tool: Tool): void {
    const queue = this.#full.get(tool) ?? [];
    this.#full.delete(tool);
    for (const waiting of queue) {
      waiting.missing.delete(tool);
      if (waiting.missing.size === 0) waiting.release();
    }
  }
}

export function takesStdin(stdin: StdinTo, rank: Rank): boolean {
  return stdin.to === 'all' || (stdin.to === 'rank' && stdin.rank === rank);
}
