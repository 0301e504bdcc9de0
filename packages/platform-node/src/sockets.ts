/**
 * Sockets of Node over descriptors that this process has, read straight into memory of ours (read-buffers.ts). A chunk
 * is passed on as it is read, without the queue of a stream: nothing is read ahead, and nothing while it is paused.
 */

import type { OnReadOpts, Socket, SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';
import { builtin } from './builtin.js';
import { ChannelBuffer } from './read-buffers.js';

/** What is read: a descriptor, or the handle of another socket. */
export type ReadSource = { readonly fd: number } | { readonly handle: object };

/** Where the next read goes, and the chunk that it makes. */
interface ReadBuffer {
  readonly next: Buffer;
  take(bytes: number): Uint8Array;
}

/** The handle of a socket; it has no public name. */
interface Handled {
  _handle?: object | null;
}

/** Paused. */
export function openReader(source: ReadSource, buffer: ReadBuffer, onChunk: (chunk: Uint8Array) => void): Socket {
  const onread: OnReadOpts = {
    buffer: () => buffer.next,
    callback: (bytes) => {
      if (!socket.destroyed) onChunk(buffer.take(bytes));
      return true;
    },
  };
  // The types know `onread` for connecting sockets alone; the constructor is where it takes effect.
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    ...source, readable: true, writable: false, onread,
  };
  const socket: Socket = new (builtin('node:net').Socket)(options);
  socket.pause();
  return socket;
}

/** For a channel: its chunks come as `data`, as those of any stream do. */
export function openChannelReader(source: ReadSource): Readable {
  const socket = openReader(source, new ChannelBuffer(), (chunk) => socket.emit('data', chunk));
  return socket;
}

export function openWriter(fd: number): Socket {
  return new (builtin('node:net').Socket)({ fd, readable: false, writable: true });
}

/** What Node has made of a child's output, to be read by another socket; undefined where it has read ahead. */
export function takeHandle(stream: Readable & Handled): { handle: object } | undefined {
  const { _handle: handle } = stream;
  if (!handle || stream.readableLength > 0) return undefined;
  stream._handle = null;
  return { handle };
}
