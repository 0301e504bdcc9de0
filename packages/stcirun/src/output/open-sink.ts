/** Chooses the sink that the command line asks for. What a run does not use is not loaded. */

import { makeLabel, sourceStream, type OutputTemplate, type SourceId } from '@stci/core/iof';
import type { OutputSink } from '@stci/core/run';
import type { StciError } from '@stci/interface';
import { reuse } from '@stci/platform-node';
import type { RunRequest } from '../cli/parse.js';
import { isColored, paintTag } from '../process/colors.js';
import { FileSink } from './file-sink.js';
import { GatherSink } from './gather-sink.js';
import { createJsonSink } from './json-sink.js';
import { createScreenSink } from './screen-sink.js';
import { nodeCodec, type OutputFacts } from './sink.js';
import { teeSink } from './tee-sink.js';
import type { Terminal } from './terminal.js';

/** A front-end has one job, for now. */
export const JOB = 1;

export interface OpenSinkParams {
  readonly request: RunRequest;
  readonly template: OutputTemplate | undefined;
  readonly terminal: Terminal;
  readonly facts: OutputFacts;
  readonly onFault: (error: StciError) => void;
}

export function openSink({ request, template, terminal, facts, onFault }: OpenSinkParams): OutputSink {
  const { tag, timestamp, gather, json, color, tee } = request;
  const { hostOf, rankOf } = facts;
  const isPainted = { stdout: isColored(color, 1), stderr: isColored(color, 2) };
  const paint = (source: SourceId, text: string): string =>
    isPainted[sourceStream(source)] ? paintTag(source, text, tag, hostOf) : text;
  const prefix = makeLabel({ tag, timestamp, hostOf, rankOf, codec: nodeCodec });
  const shownPrefix = makeLabel({ tag, timestamp, hostOf, rankOf, codec: nodeCodec, paint });
  if (gather) return new GatherSink({ terminal, facts, onFault });
  if (json && template === undefined) return createJsonSink(terminal, facts);
  const files = template === undefined ? undefined : new FileSink({ template, facts, job: JOB, prefix, onFault });
  if (files !== undefined && !tee) return recycling(files);
  if (json && files !== undefined) return teeSink(files, createJsonSink(terminal, facts));
  const screen =
    createScreenSink({ terminal, size: () => facts.size, lineBytesMax: facts.lineBytesMax, prefix: shownPrefix });
  return recycling(files === undefined ? screen : teeSink(files, screen));
}

/**
 * What the pipes of an agent in this process are read into is read into again, once `sink` has released the bytes: it
 * has written them then, or copied them.
 */
function recycling(sink: OutputSink): OutputSink {
  let isAbandoned = false;
  return {
    started: (rank, pid) => sink.started(rank, pid),
    push: (rank, stream, chunk, wallMs, release) => {
      sink.push(rank, stream, chunk, wallMs, () => {
        if (!isAbandoned) reuse([chunk]);
        release();
      });
    },
    end: (rank, stream) => sink.end(rank, stream),
    finish: (done) => sink.finish(done),
    breakLine: () => sink.breakLine(),
    // A write that is under way goes on, while all are released.
    abandon: () => {
      isAbandoned = true;
      sink.abandon();
    },
  };
}
