/**
 * Channel over a message port between two threads. A port alone has no bound and no back-pressure: here a window bounds
 * the bytes in flight, the receiver acknowledges delivered ones, and the rest waits at the sender. Chunks are copied
 * once, into memory that is then transferred.
 */

import type { MessagePort } from 'node:worker_threads';
import { assert } from '@stci/interface';
import type { Channel, ChannelEvents } from '@stci/interface';
import { DRAIN_MARK_BYTES } from './stream-channel.js';

/** Window: bytes sent and not yet delivered. */
const WINDOW_BYTES = 1024 * 1024;
/** Longest message. */
const MESSAGE_BYTES_MAX = 256 * 1024;

/** Data, a number of acknowledged bytes, or the end. */
type PortMessage = Uint8Array<ArrayBuffer> | number | 'close';

class PortChannel implements Channel {
  readonly kind = 'thread';
  readonly label: string;
  readonly #port: MessagePort;
  #events: ChannelEvents | undefined;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #inFlightBytes = 0;
  #held: Uint8Array[] = [];
  #wantsData = true;
  #full = false;
  #scheduled = false;
  #state: 'open' | 'closing' | 'closed' = 'open';
  /** Reason of the end, once the other side has ended; reported after all received data is delivered. */
  #ended: string | undefined;

  constructor(port: MessagePort, label: string) {
    this.#port = port;
    this.label = label;
    port.on('message', (message: PortMessage) => this.#receive(message));
    port.on('close', () => this.#end('end of file'));
  }

  get queuedBytes(): number {
    return this.#pendingBytes;
  }

  bind(events: ChannelEvents): void {
    assert(this.#events === undefined, `${this.label} has its receiver already`);
    this.#events = events;
    if (this.#state === 'closed') this.#notifyClosed();
    else this.#schedule();
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#state !== 'open') return false;
    for (const chunk of chunks) {
      if (chunk.byteLength === 0) continue;
      this.#pending.push(chunk);
      this.#pendingBytes += chunk.byteLength;
    }
    if (this.#pendingBytes > DRAIN_MARK_BYTES) this.#full = true;
    this.#schedule();
    return !this.#full;
  }

  readable(on: boolean): void {
    this.#wantsData = on;
    this.#schedule();
  }

  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#schedule();
  }

  destroy(reason: string): void {
    this.#finish(reason);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      this.#deliver();
      this.#pump();
    });
  }

  #receive(message: PortMessage): void {
    if (message instanceof Uint8Array) {
      this.#held.push(message);
      this.#deliver();
    } else if (message === 'close') this.#end('end of file');
    else {
      this.#inFlightBytes -= message;
      this.#pump();
    }
  }

  #deliver(): void {
    while (this.#events !== undefined && this.#wantsData && this.#state !== 'closed') {
      const chunk = this.#held.shift();
      if (chunk === undefined) break;
      const { byteLength } = chunk;
      this.#events.onData(chunk);
      this.#post(byteLength);
    }
    const idle = this.#held.length === 0 && this.#events !== undefined && this.#wantsData;
    if (this.#ended !== undefined && idle) this.#finish(this.#ended);
  }

  /** Sends what the window allows, then signals the drain or the end. */
  #pump(): void {
    if (this.#state === 'closed') return;
    while (this.#pending.length > 0 && this.#inFlightBytes < WINDOW_BYTES) this.#post(this.#take());
    if (this.#full && this.#pendingBytes <= DRAIN_MARK_BYTES / 2) {
      this.#full = false;
      if (this.#state === 'open') this.#events?.onDrain();
    }
    // Only acknowledged data has certainly been delivered; a closed port drops the rest.
    if (this.#state !== 'closing' || this.#pending.length > 0 || this.#inFlightBytes > 0) return;
    this.#post('close');
    this.#finish('closed');
  }

  /** The next message: queued chunks copied into a new buffer. */
  #take(): Uint8Array<ArrayBuffer> {
    const message = new Uint8Array(Math.min(this.#pendingBytes, MESSAGE_BYTES_MAX));
    let filled = 0;
    while (filled < message.length) {
      const chunk = this.#pending[0] as Uint8Array;
      const part = chunk.subarray(0, message.length - filled);
      message.set(part, filled);
      filled += part.byteLength;
      if (part.byteLength === chunk.byteLength) this.#pending.shift();
      else this.#pending[0] = chunk.subarray(part.byteLength);
    }
    this.#pendingBytes -= filled;
    this.#inFlightBytes += filled;
    return message;
  }

  #post(message: PortMessage): void {
    if (message instanceof Uint8Array) this.#port.postMessage(message, [message.buffer]);
    else this.#port.postMessage(message);
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    this.#deliver();
  }

  #finish(reason: string): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#ended = reason;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#held = [];
    this.#port.close();
    if (this.#events !== undefined) this.#notifyClosed();
  }

  #notifyClosed(): void {
    process.nextTick(() => this.#events?.onClose(this.#ended ?? 'closed'));
  }
}

export function portChannel(port: MessagePort, label: string): Channel {
  return new PortChannel(port, label);
}
