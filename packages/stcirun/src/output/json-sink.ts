/** Output as JSON lines on standard output (`--json`); the job's events come between them. */

import { OutputLines, sourceId, type OutputLine } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import { nodeCodec, type OutputFacts } from './sink.js';
import type { Terminal } from './terminal.js';

export function createJsonSink(terminal: Terminal, facts: OutputFacts): OutputSink {
  const { lineBytesMax, hostOf, rankOf } = facts;
  const lines = new OutputLines({ lineBytesMax, hostOf, rankOf, codec: nodeCodec });
  const write = (done: readonly OutputLine[]): void => {
    if (done.length > 0) terminal.out.write(Buffer.from(done.map((line) => `${JSON.stringify(line)}\n`).join('')));
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
