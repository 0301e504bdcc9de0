/** Output as JSON lines on standard output (`--json`); the job's events come between them. */

import { JsonLines, sourceId } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { nodeCodec, type OutputFacts } from './sink.js';
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
    abandon: () => undefined,
  };
}
