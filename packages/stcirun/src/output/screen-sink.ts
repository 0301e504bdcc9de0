/**
 * Output to the caller's own standard output and error, line by line. A job of one rank without labels passes its
 * bytes as they are: nobody can come between. Where both descriptors lead to one place, both streams share one line
 * discipline.
 */

import { LineMerger, sourceId, type SourceId, type StreamName } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { HELD_BYTES_MAX } from './sink.js';
import type { Terminal } from './terminal.js';
import type { Writer } from './writer.js';

/** How long an unfinished line waits, alone, before it is taken for a prompt. */
const PROMPT_MS = 100;

export interface ScreenSinkParams {
  readonly terminal: Terminal;
  /** True for one rank without labels; asked at the first output, when the map is settled. */
  readonly raw: () => boolean;
  readonly lineBytesMax: number;
  readonly prefix: ((source: SourceId, wallMs: number) => Uint8Array) | undefined;
}

interface Lane {
  readonly writer: Writer;
  /** undefined: bytes pass as they are. */
  readonly merger: LineMerger | undefined;
}

export function createScreenSink(params: ScreenSinkParams): OutputSink {
  const { terminal } = params;
  let made: Record<StreamName, Lane> | undefined;
  const lanes = (): Record<StreamName, Lane> => (made ??= makeLanes(params));
  let timer: NodeJS.Timeout | undefined;

  const tick = (): void => {
    timer = undefined;
    for (const lane of Object.values(lanes())) lane.merger?.tick(performance.now());
    watch();
  };
  const watch = (): void => {
    if (timer !== undefined) return;
    const dues = Object.values(lanes()).map((lane) => lane.merger?.promptDueMs()).filter((due) => due !== undefined);
    if (dues.length === 0) return;
    // Not pushed back by each chunk: the merger itself tells whether the quiet has been long enough.
    timer = setTimeout(tick, Math.max(1, Math.min(...dues) - performance.now()));
    timer.unref();
  };

  return {
    started: () => undefined,
    push: (rank, stream, chunk, wallMs, release) => {
      const lane = lanes()[stream];
      if (lane.merger === undefined) lane.writer.write(chunk);
      else lane.merger.push(sourceId(rank, stream), chunk, wallMs, performance.now());
      lane.writer.after(release);
      if (lane.merger !== undefined) watch();
    },
    end: (rank, stream) => made?.[stream].merger?.end(sourceId(rank, stream)),
    finish: (done) => {
      clearTimeout(timer);
      terminal.flush(done);
    },
    breakLine: () => made?.stderr.merger?.breakLine(),
  };
}

function makeLanes(params: ScreenSinkParams): Record<StreamName, Lane> {
  const { terminal } = params;
  const stdout = makeLane(params, terminal.out);
  return { stdout, stderr: terminal.shared ? stdout : makeLane(params, terminal.err) };
}

function makeLane({ raw, lineBytesMax, prefix }: ScreenSinkParams, writer: Writer): Lane {
  if (raw()) return { writer, merger: undefined };
  const merger = new LineMerger({
    lineBytesMax,
    heldBytesMax: HELD_BYTES_MAX,
    promptMs: PROMPT_MS,
    ...(prefix !== undefined && { prefix }),
    emit: (bytes) => writer.write(bytes),
  });
  return { writer, merger };
}
