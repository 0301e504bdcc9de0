/** Output as JSON lines on standard output (`--json`), and the job's events between them. */

import { isoTime, JsonLines, sourceId } from '@stci/core/iof';
import { printable, type JobEvent, type JobReport, type RankReport } from '@stci/interface';
import { nodeCodec, type OutputFacts, type OutputSink } from './sink.js';
import type { Terminal } from './terminal.js';

export function createJsonSink(terminal: Terminal, facts: OutputFacts): OutputSink {
  const lines = new JsonLines({ lineBytesMax: facts.lineBytesMax, hostOf: facts.hostOf, codec: nodeCodec });
  const write = (text: string): void => {
    if (text !== '') terminal.out.write(Buffer.from(text));
  };
  return {
    started: () => undefined,
    push: (rank, stream, chunk, wallMs, release) => {
      write(lines.push(sourceId(rank, stream), chunk, wallMs));
      terminal.out.after(release);
    },
    end: (rank, stream) => write(lines.end(sourceId(rank, stream))),
    finish: (done) => terminal.flush(done),
    breakLine: () => undefined,
  };
}

/** An event of the job as one object; times are ISO texts. */
export function eventJson(event: JobEvent): string {
  return printable(`${JSON.stringify(eventObject(event))}\n`);
}

function eventObject(event: JobEvent): object {
  switch (event.type) {
    case 'started': {
      const { wallMs, ...rest } = event;
      return { ...rest, time: isoTime(wallMs) };
    }
    case 'exited':
      return { type: event.type, ...rankJson(event.report) };
    case 'ended':
      return { type: event.type, report: reportJson(event.report) };
    default:
      return event;
  }
}

export function reportJson(report: JobReport): object {
  const { submitWallMs, endWallMs, ranks, ...rest } = report;
  return { ...rest, submitted: isoTime(submitWallMs), ended: isoTime(endWallMs), ranks: ranks.map(rankJson) };
}

function rankJson({ startWallMs, endWallMs, end, ...rest }: RankReport): object {
  const known = startWallMs !== undefined && endWallMs !== undefined;
  return {
    ...rest,
    ...(end?.status !== undefined && { status: end.status }),
    ...(end?.signal !== undefined && { signal: end.signal }),
    ...(startWallMs !== undefined && { start: isoTime(startWallMs) }),
    ...(endWallMs !== undefined && { end: isoTime(endWallMs) }),
    ...(known && { durationMs: Math.max(0, Math.round(endWallMs - startWallMs)) }),
  };
}
