/**
 * Channel over two Node streams: a child's pipes, descriptors 0 and 1, a socket. All data sent in one turn is written
 * by one system call at its end, or when it is flushed. The two directions fail separately: the last data of a peer
 * that died is in one pipe while the other is broken already, so a write error closes the channel only after the
 * remaining data was read.
 */

import type { Readable, Writable } from 'node:stream';
import { assert } from '@stci/interface';
import type { Channel, ChannelEvents } from '@stci/interface';
import { runOverdue } from '../system/clock.js';
import { coalesce } from './coalesce.js';
import { reuse } from './read-buffers.js';

/** `send` returns false while more than this is queued, in bytes. */
export const DRAIN_MARK_BYTES = 1024 * 1024;

/** How long the remaining data may be read after a write failed. */
const REMAINING_INPUT_MS = 1000;

export interface StreamChannelOptions {
  readonly kind: string;
  readonly label: string;
  readonly readable: Readable;
  readonly writable: Writable;
  /** Longest single write, at least 64 KiB; default: no limit. */
  readonly chunkBytesMax?: number;
}

const REASONS: Readonly<Record<string, string>> = {
  EPIPE: 'broken pipe',
  ECONNRESET: 'connection reset',
  ECONNREFUSED: 'connection refused',
  ETIMEDOUT: 'timed out',
  ENOTFOUND: 'host not found',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
};

/** What OpenSSL's message, which names its files, says: `sslv3 alert bad record mac`. */
const TLS_ERROR = /SSL routines:[^:]*:([^:]+)/;

/** Message for a stream's error: one line. */
export function closeReason(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  const tls = TLS_ERROR.exec(error.message)?.[1];
  if (tls?.includes('bad record mac') === true) return 'another key, or changed data (TLS: bad record mac)';
  if (tls !== undefined) return `TLS: ${tls}`;
  return (code !== undefined && REASONS[code]) || error.message;
}

class StreamChannel implements Channel {
  readonly kind: string;
  readonly label: string;
  readonly #readable: Readable;
  readonly #writable: Writable;
  readonly #chunkBytesMax: number | undefined;
  #events: ChannelEvents | undefined;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #flushScheduled = false;
  #full = false;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #writeError: string | undefined;
  #wantsData = true;
  #inputTimer: NodeJS.Timeout | undefined;
  #reason = '';

  constructor(options: StreamChannelOptions) {
    this.kind = options.kind;
    this.label = options.label;
    this.#readable = options.readable;
    this.#writable = options.writable;
    this.#chunkBytesMax = options.chunkBytesMax;
    this.#readable.pause();
    this.#readable.on('end', () => this.#finish('end of file'));
    this.#readable.on('close', () => this.#finish('end of file'));
    this.#readable.on('error', (error) => this.#finish(closeReason(error)));
    this.#writable.on('error', (error) => this.#failWriting(closeReason(error)));
    this.#writable.on('close', () => this.#failWriting('broken pipe'));
  }

  get queuedBytes(): number {
    return this.#pendingBytes + this.#writable.writableLength;
  }

  bind(events: ChannelEvents): void {
    assert(this.#events === undefined, `${this.label} has its receiver already`);
    this.#events = events;
    if (this.#state === 'closed') return this.#notifyClosed();
    this.#readable.on('data', (chunk: Uint8Array) => {
      runOverdue();
      if (this.#state !== 'closed') events.onData(chunk);
    });
    if (this.#wantsData) this.#readable.resume();
    else this.#readable.pause();
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#state !== 'open' || this.#writeError !== undefined) return false;
    for (const chunk of chunks) {
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.byteLength;
    }
    if (!this.#flushScheduled) {
      this.#flushScheduled = true;
      process.nextTick(() => this.flush());
    }
    if (this.queuedBytes > DRAIN_MARK_BYTES) this.#full = true;
    return !this.#full;
  }

  flush(): void {
    this.#flushScheduled = false;
    if (this.#state === 'closed' || this.#pending.length === 0) return;
    const taken = this.#pending;
    const chunks = coalesce(taken, this.#chunkBytesMax);
    this.#pending = [];
    this.#pendingBytes = 0;
    if (chunks.length === 0 || this.#writeError !== undefined) return;
    if (chunks.length > 1) this.#writable.cork();
    chunks.forEach((chunk, i) => {
      this.#writable.write(chunk, i === chunks.length - 1 ? (error) => this.#written(taken, error) : undefined);
    });
    if (chunks.length > 1) this.#writable.uncork();
  }

  readable(on: boolean): void {
    this.#wantsData = on;
    if (this.#events === undefined || this.#state === 'closed') return;
    if (on) this.#readable.resume();
    else this.#readable.pause();
    if (this.#writeError !== undefined) this.#awaitRemainingInput(this.#writeError);
  }

  close(): void {
    if (this.#state !== 'open') return;
    this.flush();
    this.#state = 'closing';
    if (this.#writeError !== undefined) return this.#finish('closed');
    this.#writable.end(() => this.#finish('closed'));
  }

  destroy(reason: string): void {
    this.#finish(reason);
  }

  #written(chunks: readonly Uint8Array[], error: Error | null | undefined): void {
    if (!error) reuse(chunks);
    if (!this.#full || this.#state === 'closed' || this.#writeError !== undefined) return;
    if (this.queuedBytes > DRAIN_MARK_BYTES / 2) return;
    this.#full = false;
    this.#events?.onDrain();
  }

  #failWriting(reason: string): void {
    if (this.#writeError !== undefined || this.#state === 'closed') return;
    this.#writeError = reason;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#state === 'closing') return this.#finish(reason);
    this.#awaitRemainingInput(reason);
  }

  /** A paused reader gets its deadline when it resumes; what came by then is read, however late the timer is. */
  #awaitRemainingInput(reason: string): void {
    clearTimeout(this.#inputTimer);
    if (this.#events !== undefined && !this.#wantsData) return;
    this.#inputTimer = setTimeout(() => setImmediate(() => {
      if (this.#events === undefined || this.#wantsData) this.#finish(reason);
    }), REMAINING_INPUT_MS).unref();
  }

  #finish(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#reason = reason;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#readable.destroy();
    this.#writable.destroy();
    if (this.#events !== undefined) this.#notifyClosed();
  }

  #notifyClosed(): void {
    process.nextTick(() => this.#events?.onClose(this.#reason));
  }
}

/** A channel over two streams, which it owns. */
export function streamChannel(options: StreamChannelOptions): Channel {
  return new StreamChannel(options);
}
