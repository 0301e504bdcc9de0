/**
 * One output stream of a tool: chunks as they were read, each with the time of the read, and one end. While it is
 * paused nothing is read, so the tool's writes block once the pipe is full (back-pressure).
 */

import type { OnReadOpts, Socket, SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';
import { markRoom, ROOM_BYTES, type ProcessEvents } from '@stci/interface';
import { builtin } from './builtin.js';

type OutputName = 'stdout' | 'stderr';

/** Longest read; a pipe of Linux holds as much. */
const READ_BYTES_MAX = 64 * 1024;

/** Chunks of at least this length are passed on without a copy; shorter ones are copied out of the read buffer. */
const HAND_ON_BYTES = 16 * 1024;

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

/** Owns the reading end of a pipe. Nothing is read ahead: each chunk goes from the system to its owner. */
export function openOutput(fd: number, name: OutputName, events: ProcessEvents): OutputPipe {
  const { Socket } = builtin('node:net');
  let buffer = makeBuffer();
  const onread: OnReadOpts = {
    buffer: () => buffer,
    callback: (bytes) => {
      const chunk = buffer.subarray(0, bytes);
      if (bytes >= HAND_ON_BYTES) {
        markRoom(chunk);
        buffer = makeBuffer();
      }
      if (!socket.destroyed) events.onOutput(name, bytes < HAND_ON_BYTES ? Buffer.from(chunk) : chunk, Date.now());
      return true;
    },
  };
  // The types know `onread` for connecting sockets alone; the constructor is where it takes effect.
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    fd, readable: true, writable: false, onread,
  };
  const socket: Socket = new Socket(options);
  return new OutputPipe(socket, name, events);
}

/** With room in front (see markRoom). */
function makeBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(ROOM_BYTES + READ_BYTES_MAX).subarray(ROOM_BYTES);
}

/** The same over a stream that Node has made, which reads ahead: the times of its reads wait beside its chunks. */
export function wrapOutput(stream: Readable, name: OutputName, events: ProcessEvents): OutputPipe {
  const readWallMs: number[] = [];
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding) => {
    if (chunk !== null) readWallMs.push(Date.now());
    return push(chunk, encoding);
  };
  stream.pause();
  stream.on('data', (chunk: Uint8Array) => {
    const wallMs = readWallMs.shift() ?? Date.now();
    if (!stream.destroyed) events.onOutput(name, chunk, wallMs);
  });
  return new OutputPipe(stream, name, events);
}
