/**
 * Output to the caller's own standard output and error, line by line. A job of one rank without labels passes its bytes
 * unchanged, since no other rank can interrupt a line, until it spawns others. Where both descriptors lead to one
 * place, both streams share one line discipline.
 */

import { LineMerger, NEWLINE, NEWLINE_BYTES, sourceId, type SourceId, type StreamName } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { HELD_BYTES_MAX } from './sink.js';
import type { Terminal } from './terminal.js';
import type { Writer } from './writer.js';

/** How long an unfinished line waits, alone, before it is shown as a prompt. */
const PROMPT_MS = 100;

export interface ScreenSinkParams {
  readonly terminal: Terminal;
  /** Number of ranks; it may grow. */
  readonly size: () => number;
  readonly lineBytesMax: number;
  readonly prefix: ((source: SourceId, wallMs: number) => Uint8Array) | undefined;
}

/** One place: its writer, and the line discipline of all streams that lead to it. */
class Lane {
  readonly writer: Writer;
  readonly #params: ScreenSinkParams;
  /** undefined: bytes pass as they are. */
  #merger: LineMerger | undefined;
  /** What has passed ends within a line. */
  #isLineOpen = false;
  /** Streams that have ended. */
  #ended = 0;
  readonly #isTerminal: boolean;

  constructor(params: ScreenSinkParams, writer: Writer, stream: StreamName) {
    this.#params = params;
    this.writer = writer;
    this.#isTerminal = params.terminal.isTerminal(stream);
  }

  push(source: SourceId, chunk: Uint8Array, wallMs: number): void {
    this.#merger ??= this.#newMerger();
    if (this.#merger !== undefined) return this.#merger.push(source, chunk, wallMs, performance.now());
    this.writer.write(chunk);
    this.#isLineOpen = chunk.at(-1) !== NEWLINE;
  }

  end(source: SourceId): void {
    this.#ended += 1;
    this.#merger?.end(source);
  }

  tick(): void {
    if (this.promptDueMs() !== undefined) this.#merger?.tick(performance.now());
  }

  /** Ends an open line for a message of our own; in a pipe or a file the message waits (writer.ts). */
  breakLine(): void {
    if (this.#isTerminal) this.#merger?.breakLine();
  }

  /** When a prompt is due. Lines in a pipe or a file may not be cut, so there no other stream may be open. */
  promptDueMs(): number | undefined {
    const { size, terminal } = this.#params;
    const isAlone = size() * (terminal.shared ? 2 : 1) - this.#ended <= 1;
    return this.#isTerminal || isAlone ? this.#merger?.promptDueMs() : undefined;
  }

  #newMerger(): LineMerger | undefined {
    const { size, lineBytesMax, prefix } = this.#params;
    if (size() === 1 && prefix === undefined) return undefined;
    if (this.#isLineOpen) this.writer.write(NEWLINE_BYTES);
    return new LineMerger({
      lineBytesMax,
      heldBytesMax: HELD_BYTES_MAX,
      promptMs: PROMPT_MS,
      ...(prefix !== undefined && { prefix }),
      emit: (bytes) => this.writer.write(bytes),
    });
  }
}

export function createScreenSink(params: ScreenSinkParams): OutputSink {
  const { terminal } = params;
  let made: Record<StreamName, Lane> | undefined;
  const lanes = (): Record<StreamName, Lane> => (made ??= makeLanes(params));
  let timer: NodeJS.Timeout | undefined;

  const tick = (): void => {
    timer = undefined;
    for (const lane of Object.values(lanes())) lane.tick();
    watch();
  };
  const watch = (): void => {
    if (timer !== undefined) return;
    const dues = Object.values(lanes()).map((lane) => lane.promptDueMs()).filter((due) => due !== undefined);
    if (dues.length === 0) return;
    // Not restarted by each chunk: the merger itself knows how long there was no output.
    timer = setTimeout(tick, Math.max(1, Math.min(...dues) - performance.now()));
    timer.unref();
  };

  return {
    started: () => undefined,
    push: (rank, stream, chunk, wallMs, release) => {
      const lane = lanes()[stream];
      lane.push(sourceId(rank, stream), chunk, wallMs);
      lane.writer.after(release);
      watch();
    },
    end: (rank, stream) => {
      lanes()[stream].end(sourceId(rank, stream));
      watch();
    },
    finish: (done) => {
      clearTimeout(timer);
      terminal.flush(done);
    },
    breakLine: () => made?.stderr.breakLine(),
    abandon: () => undefined,
  };
}

function makeLanes(params: ScreenSinkParams): Record<StreamName, Lane> {
  const { terminal } = params;
  const stdout = new Lane(params, terminal.out, 'stdout');
  return { stdout, stderr: terminal.shared ? stdout : new Lane(params, terminal.err, 'stderr') };
}
