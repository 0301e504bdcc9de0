/**
 * One output stream of a tool: chunks with the time of their read, and one end. While paused it is not read, so the
 * tool's writes block once the pipe is full (back-pressure).
 */

import type { Readable } from 'node:stream';
import type { ProcessEvents } from '@stci/interface';
import { PipeBuffer } from '../channels/read-buffers.js';
import { openReader, type ReadSource } from '../channels/sockets.js';
import { runOverdue } from '../system/clock.js';

type OutputName = 'stdout' | 'stderr';

export class OutputPipe {
  readonly #stream: Readable;

  constructor(stream: Readable, name: OutputName, events: ProcessEvents) {
    this.#stream = stream;
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      events.onOutputEnd(name);
    };
    stream.on('end', end);
    stream.on('close', end);
    // A read error (EIO) ends the stream by `close`.
    stream.on('error', () => {});
  }

  readable(on: boolean): void {
    if (on) this.#stream.resume();
    else this.#stream.pause();
  }

  close(): void {
    this.#stream.destroy();
  }
}

/** Takes ownership of the reading end. */
export function openOutput(source: ReadSource, name: OutputName, events: ProcessEvents): OutputPipe {
  return new OutputPipe(
    openReader(source, new PipeBuffer(), (chunk) => {
      runOverdue();
      events.onOutput(name, chunk, Date.now());
    }), name, events,
  );
}
