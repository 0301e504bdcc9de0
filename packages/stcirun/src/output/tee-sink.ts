/** Output to two sinks at once, such as files and the screen: a chunk is released once both have it. */

import type { OutputSink } from '@stci/core/run';

export function teeSink(first: OutputSink, second: OutputSink): OutputSink {
  const both = (done: () => void): (() => void) => {
    let left = 2;
    return () => {
      left -= 1;
      if (left === 0) done();
    };
  };
  return {
    started: (rank, pid) => {
      first.started(rank, pid);
      second.started(rank, pid);
    },
    push: (rank, stream, chunk, wallMs, release) => {
      const released = both(release);
      first.push(rank, stream, chunk, wallMs, released);
      second.push(rank, stream, chunk, wallMs, released);
    },
    end: (rank, stream) => {
      first.end(rank, stream);
      second.end(rank, stream);
    },
    finish: (done) => {
      const finished = both(done);
      first.finish(finished);
      second.finish(finished);
    },
    breakLine: () => {
      first.breakLine();
      second.breakLine();
    },
    abandon: () => {
      first.abandon();
      second.abandon();
    },
  };
}
