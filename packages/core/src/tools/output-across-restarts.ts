/**
 * Output of ranks that may be started again: the end of an attempt's stream is that of its rank only where no other
 * attempt follows, which is known when the tool has ended. Else the unfinished line of the attempt is ended, so that
 * the next one begins a line of its own.
 */

import type { Rank } from '@stci/interface';
import { sourceId, type SourceId, type StreamName } from '../iof/source.js';
import type { Tool } from './tool.js';

/** An empty chunk ends the stream. */
type Send = (rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number) => void;

const EMPTY = new Uint8Array(0);
const NEWLINE = 10;

export class OutputAcrossRestarts {
  readonly #send: Send;
  /** Whether ranks may be started again. */
  isOn = false;
  /** Streams whose last line is unfinished. */
  readonly #unfinished = new Set<SourceId>();
  /** Ends of streams of tools that have not ended. */
  readonly #held = new Map<Tool, (() => void)[]>();
  /** Tools that have ended, and are followed by another attempt. */
  readonly #followed = new WeakSet<Tool>();

  constructor(send: Send) {
    this.#send = send;
  }

  push(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number): void {
    const source = sourceId(rank, stream);
    if (!this.isOn) return this.#send(rank, stream, chunk, wallMs);
    if (chunk.at(-1) === NEWLINE) this.#unfinished.delete(source);
    else this.#unfinished.add(source);
    this.#send(rank, stream, chunk, wallMs);
  }

  onOutputEnd(tool: Tool, stream: StreamName, wallMs: number): void {
    const end = (): void => this.#end(tool, stream, wallMs);
    if (tool.ended || !this.isOn) return end();
    const held = this.#held.get(tool);
    if (held === undefined) this.#held.set(tool, [end]);
    else held.push(end);
  }

  /** The tool has ended. */
  onEnded(tool: Tool, isFollowed: boolean): void {
    if (isFollowed) this.#followed.add(tool);
    const held = this.#held.get(tool) ?? [];
    this.#held.delete(tool);
    for (const end of held) end();
  }

  #end(tool: Tool, stream: StreamName, wallMs: number): void {
    const isUnfinished = this.#unfinished.delete(sourceId(tool.rank, stream));
    if (!this.#followed.has(tool)) this.#send(tool.rank, stream, EMPTY, wallMs);
    else if (isUnfinished) this.#send(tool.rank, stream, Uint8Array.of(NEWLINE), wallMs);
  }
}
