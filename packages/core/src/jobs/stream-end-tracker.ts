/**
 * Each stream of a rank's output has one end. A lost host sends none: its streams are ended here, and output that still
 * arrives is dropped.
 */

import type { FrontEndEvents, Rank } from '@stci/interface';
import { sourceId, sourceRank, sourceStream, type SourceId, type StreamName } from '../iof/source.js';

const NO_BYTES = new Uint8Array(0);
const NEWLINE = 10;

export class StreamEndTracker {
  readonly #onOutput: FrontEndEvents['onOutput'];
  /** Streams that have had output and have not ended; with an unfinished last line: its time. */
  readonly #open = new Map<SourceId, number | undefined>();
  readonly #ended = new Set<SourceId>();
  #isOver = false;

  constructor(onOutput: FrontEndEvents['onOutput']) {
    this.#onOutput = onOutput;
  }

  output(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    const source = sourceId(rank, stream);
    if (this.#isOver || this.#ended.has(source)) return release();
    if (chunk.length > 0) this.#open.set(source, chunk.at(-1) === NEWLINE ? undefined : wallMs);
    else this.#close(source);
    this.#onOutput(rank, stream, chunk, wallMs, release);
  }

  /** A host is lost: the open streams of its ranks end; of those that are started again, only the unfinished lines. */
  lost(isLost: (rank: Rank) => boolean, returns: (rank: Rank) => boolean): void {
    for (const [source, wallMs] of this.#open) {
      const rank = sourceRank(source);
      if (isLost(rank) && !returns(rank)) this.#end(source);
      else if (isLost(rank) && wallMs !== undefined) {
        this.#open.set(source, undefined);
        this.#onOutput(rank, sourceStream(source), Uint8Array.of(NEWLINE), wallMs, () => undefined);
      }
    }
  }

  /** The job is over: every stream ends. */
  over(): void {
    for (const source of this.#open.keys()) this.#end(source);
    this.#isOver = true;
  }

  #end(source: SourceId): void {
    this.#close(source);
    this.#onOutput(sourceRank(source), sourceStream(source), NO_BYTES, 0, () => undefined);
  }

  #close(source: SourceId): void {
    this.#open.delete(source);
    this.#ended.add(source);
  }
}
