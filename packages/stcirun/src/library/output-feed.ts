/**
 * Output of a job as chunks or lines that its caller iterates over. A chunk counts as written when the caller asks for
 * the next one: so ranks are held back, by the runtime's credit, when the caller is slow, and what waits here never
 * exceeds the window of output (parameter iof.window). When the job has ended, what is left waits for its reader.
 */

import {
  LineMerger, OutputLines, sourceId, sourceRank, sourceStream, type OutputLine, type SourceId, type StreamName,
} from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import type { Rank } from '@stci/interface';
import { HELD_BYTES_MAX, nodeCodec, type OutputFacts } from '../output/sink.js';
import { Feed } from './feed.js';

/** Bytes as a rank wrote them: in order for each rank and stream, whatever the cuts. */
export interface OutputChunk {
  readonly rank: Rank;
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
}

interface Piece {
  readonly source: SourceId;
  /** Empty at the end of the stream. */
  readonly bytes: Uint8Array;
  readonly wallMs: number;
  release(): void;
}

const NOTHING = new Uint8Array(0);

export class OutputFeed implements OutputSink {
  readonly #feed = new Feed<Piece>('The output of a job', (piece) => piece.release());
  #isAbandoned = false;

  get isRead(): boolean {
    return this.#feed.isRead;
  }

  started(): void {}

  push(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    const releaseOnce = once(release);
    // A copy: the caller may keep it, and it shares its buffer with frames.
    this.#feed.push({ source: sourceId(rank, stream), bytes: chunk.slice(), wallMs, release: releaseOnce });
    if (this.#isAbandoned) releaseOnce();
  }

  end(rank: Rank, stream: StreamName): void {
    this.#feed.push({ source: sourceId(rank, stream), bytes: NOTHING, wallMs: 0, release: () => undefined });
  }

  /** What has come is released, and still there to be read. */
  finish(done: () => void): void {
    this.#feed.forEach((piece) => piece.release());
    this.#feed.end();
    done();
  }

  breakLine(): void {}

  abandon(): void {
    this.#isAbandoned = true;
    this.#feed.forEach((piece) => piece.release());
  }

  /** Nobody reads. */
  discard(): void {
    this.#feed.leave();
  }

  /** Before the job began, or when it was to have ended. */
  fail(error: unknown): void {
    this.#feed.end(error);
  }

  async *chunks(): AsyncGenerator<OutputChunk, void, undefined> {
    for await (const { source, bytes } of this.#pieces()) {
      if (bytes.length > 0) yield { rank: sourceRank(source), stream: sourceStream(source), bytes };
    }
  }

  async *lines(facts: () => OutputFacts): AsyncGenerator<OutputLine, void, undefined> {
    let lines: OutputLines | undefined;
    for await (const { source, bytes, wallMs } of this.#pieces()) {
      const { lineBytesMax, hostOf } = facts();
      lines ??= new OutputLines({ lineBytesMax, hostOf, codec: nodeCodec });
      yield* bytes.length === 0 ? lines.end(source) : lines.push(source, bytes, wallMs);
    }
  }

  /** Whole lines to both places, until one of them fails: with its error, and its name. */
  async passOn(
    write: (stream: StreamName, bytes: Uint8Array) => Promise<void>, facts: () => OutputFacts,
  ): Promise<void> {
    const ready: [StreamName, Uint8Array][] = [];
    const mergers = new Map<StreamName, LineMerger>();
    for await (const { source, bytes, wallMs } of this.#pieces()) {
      const stream = sourceStream(source);
      const { lineBytesMax } = facts();
      const merger = mergers.get(stream) ?? new LineMerger({
        lineBytesMax, heldBytesMax: HELD_BYTES_MAX, emit: (whole) => ready.push([stream, whole]),
      });
      mergers.set(stream, merger);
      if (bytes.length === 0) merger.end(source);
      else merger.push(source, bytes, wallMs, 0);
      for (const each of ready.splice(0)) await write(...each);
    }
  }

  async *#pieces(): AsyncGenerator<Piece, void, undefined> {
    for await (const piece of this.#feed.read()) {
      try {
        yield piece;
      } finally {
        piece.release();
      }
    }
  }
}

function once(call: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) call();
    isDone = true;
  };
}
