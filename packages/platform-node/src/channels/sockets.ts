/**
 * Sockets of Node on descriptors that this process has, read directly into our buffers (read-buffers.ts). A chunk is
 * passed on as it is read, without a stream's queue: no read-ahead, and no read while paused.
 */

import type { OnReadOpts, Socket, SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';
import { builtin } from '../system/builtin.js';
import { ChannelBuffer } from './read-buffers.js';

/** Source: a descriptor, or the handle of another socket. */
export type ReadSource = { readonly fd: number } | { readonly handle: object };

/** Buffer of the next read, and the chunk made of it. */
interface ReadBuffer {
  readonly next: Buffer;
  take(bytes: number): Uint8Array;
}

/** The handle of a socket; not in Node's public interface. */
interface Handled {
  _handle?: object | null;
}

/** Returns a paused socket. */
export function openReader(source: ReadSource, buffer: ReadBuffer, onChunk: (chunk: Uint8Array) => void): Socket {
  const onread: OnReadOpts = {
    buffer: () => buffer.next,
    callback: (bytes) => {
      if (!socket.destroyed) onChunk(buffer.take(bytes));
      return true;
    },
  };
  // The types know `onread` for connecting sockets only, but the constructor uses it.
  const options: SocketConstructorOpts & { readonly onread: OnReadOpts } = {
    ...source, readable: true, writable: false, onread,
  };
  const socket: Socket = new (builtin('node:net').Socket)(options);
  socket.pause();
  return socket;
}

/** Reader for a channel: chunks are emitted as `data`, as by any stream. */
export function openChannelReader(source: ReadSource): Readable {
  const socket = openReader(source, new ChannelBuffer(), (chunk) => socket.emit('data', chunk));
  return socket;
}

export function openWriter(fd: number): Socket {
  return new (builtin('node:net').Socket)({ fd, readable: false, writable: true });
}

/** Takes over the handle of a child's output from Node's socket; undefined if that has read ahead. */
export function takeHandle(stream: Readable & Handled): { handle: object } | undefined {
  const { _handle: handle } = stream;
  if (!handle || stream.readableLength > 0) return undefined;
  stream._handle = null;
  return { handle };
}
