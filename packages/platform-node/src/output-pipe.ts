/**
 * One output stream of a tool: chunks as they were read, each with the time of the read, and one end. Paused means
 * that nothing is read, so the tool feels it at its next write once the pipe is full.
 */

import type { Readable } from 'node:stream';
import type { ProcessEvents } from '@stci/interface';

export class OutputPipe {
  readonly #stream: Readable;

  constructor(name: 'stdout' | 'stderr', stream: Readable, events: ProcessEvents) {
    this.#stream = stream;
    let ended = false;
    const end = (): void => {
      if (ended) return;
      ended = true;
      events.onOutputEnd(name);
    };
    stream.pause();
    stream.on('data', (chunk: Uint8Array) => {
      if (!ended) events.onOutput(name, chunk, Date.now());
    });
    stream.pause();
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
