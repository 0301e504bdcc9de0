/**
 * Output to the caller's own standard output and error, line by line. A job of one rank without labels passes its bytes
 * unchanged, since no other rank can interrupt a line. Where both descriptors lead to one place, both streams share one
 * line discipline.
 */

import { LineMerger, sourceId, type SourceId, type StreamName } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { HELD_BYTES_MAX } from './sink.js';
import type { Terminal } from './terminal.js';
import type { Writer } from './writer.js';

/** How long an unfinished line waits, alone, before it is shown as a prompt. */
const PROMPT_MS = 100;

export interface ScreenSinkParams {
  readonly terminal: Terminal;
  /** Number of ranks; asked at the first output, when the map is settled. */
  readonly size: () => number;
  readonly lineBytesMax: number;
  readonly prefix: ((source: SourceId, wallMs: number) => Uint8Array) | undefined;
}

/** One place: its writer, and the line discipline of all streams that lead to it. */
class Lane {
  readonly writer: Writer;
  /** undefined: bytes pass as they are. */
  readonly merger: LineMerger | undefined;
  /** Streams that have not ended. */
  #openStreams: number;
  readonly #isTerminal: boolean;

  constructor(params: ScreenSinkParams, writer: Writer, stream: StreamName) {
    const { size, lineBytesMax, prefix, terminal } = params;
    this.writer = writer;
    this.#isTerminal = terminal.isTerminal(stream);
    this.#openStreams = size() * (terminal.shared ? 2 : 1);
    if (size() === 1 && prefix === undefined) return;
    this.merger = new LineMerger({
      lineBytesMax,
      heldBytesMax: HELD_BYTES_MAX,
      promptMs: PROMPT_MS,
      ...(prefix !== undefined && { prefix }),
      emit: (bytes) => writer.write(bytes),
    });
  }

  push(source: SourceId, chunk: Uint8Array, wallMs: number): void {
    if (this.merger === undefined) this.writer.write(chunk);
    else this.merger.push(source, chunk, wallMs, performance.now());
  }

  end(source: SourceId): void {
    this.#openStreams -= 1;
    this.merger?.end(source);
  }

  tick(): void {
    if (this.promptDueMs() !== undefined) this.merger?.tick(performance.now());
  }

  /** Ends an open line for a message of our own; in a pipe or a file the message waits (writer.ts). */
  breakLine(): void {
    if (this.#isTerminal) this.merger?.breakLine();
  }

  /** When a prompt is due. Lines in a pipe or a file may not be cut, so there no other stream may be open. */
  promptDueMs(): number | undefined {
    return this.#isTerminal || this.#openStreams <= 1 ? this.merger?.promptDueMs() : undefined;
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
