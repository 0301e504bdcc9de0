/**
 * A channel whose ways are still being loaded: takes everything at once, hands it on when the real one is there.
 * The code for sockets costs 14 ms to load, which an agent without sockets does not pay.
 */

import { assert } from '@stci/interface';
import type { Channel, ChannelEvents } from '@stci/interface';
import { DRAIN_MARK_BYTES } from './stream-channel.js';

export class LateChannel implements Channel {
  readonly kind: string;
  readonly label: string;
  #inner: Channel | undefined;
  #events: ChannelEvents | undefined;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #wantsData = true;
  #closing = false;
  #destroyed: string | undefined;

  constructor(kind: string, label: string) {
    this.kind = kind;
    this.label = label;
  }

  /** Called once, with the real channel, which nobody has bound. */
  become(inner: Channel): void {
    this.#inner = inner;
    inner.readable(this.#wantsData);
    if (this.#events !== undefined) inner.bind(this.#events);
    const wasFull = this.#queuedBytes > DRAIN_MARK_BYTES;
    const goesOn = this.#queue.length === 0 || inner.send(this.#queue);
    this.#queue = [];
    if (this.#destroyed !== undefined) inner.destroy(this.#destroyed);
    else if (this.#closing) inner.close();
    else if (wasFull && goesOn) this.#events?.onDrain();
  }

  get queuedBytes(): number {
    return this.#inner?.queuedBytes ?? this.#queuedBytes;
  }

  bind(events: ChannelEvents): void {
    assert(this.#events === undefined, `${this.label} has its receiver already`);
    this.#events = events;
    this.#inner?.bind(events);
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#inner !== undefined) return this.#inner.send(chunks);
    if (this.#closing || this.#destroyed !== undefined) return false;
    for (const chunk of chunks) {
      this.#queue.push(chunk);
      this.#queuedBytes += chunk.byteLength;
    }
    return this.#queuedBytes <= DRAIN_MARK_BYTES;
  }

  readable(on: boolean): void {
    this.#wantsData = on;
    this.#inner?.readable(on);
  }

  close(): void {
    this.#closing = true;
    this.#inner?.close();
  }

  destroy(reason: string): void {
    this.#destroyed ??= reason;
    this.#inner?.destroy(reason);
  }
}
