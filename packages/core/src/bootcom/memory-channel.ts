/**
 * Memory channel between two agents of one process. Chunks are delivered in a later turn of the loop, all waiting ones
 * at once, so that neither end ever runs inside the other's call.
 */

import type { Channel, ChannelEvents, Clock } from '@stci/interface';
import { soonOnce } from '../event/soon-once.js';

/** Bytes in flight at which `send` asks the sender to wait. */
const QUEUE_MARK_BYTES = 1024 * 1024;

class MemoryEnd implements Channel {
  readonly kind = 'memory';
  readonly label: string;
  readonly #deliverSoon: () => void;
  /** Set by `memoryChannel` before the end is used. */
  peer: MemoryEnd = this;
  #events: ChannelEvents | undefined;
  #inbox: Uint8Array[] = [];
  #inboxBytes = 0;
  #closeReason: string | undefined;
  #closed = false;
  #readable = true;
  #full = false;

  constructor(label: string, clock: Clock) {
    this.label = label;
    this.#deliverSoon = soonOnce(clock, () => this.#deliver());
  }

  get queuedBytes(): number {
    return this.peer.#inboxBytes;
  }

  bind(events: ChannelEvents): void {
    this.#events = events;
    this.#schedule();
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#closed || this.peer.#closeReason !== undefined) return false;
    for (const chunk of chunks) {
      this.peer.#inbox.push(chunk);
      this.peer.#inboxBytes += chunk.length;
    }
    this.peer.#schedule();
    this.#full = this.peer.#inboxBytes > QUEUE_MARK_BYTES;
    return !this.#full;
  }

  readable(on: boolean): void {
    this.#readable = on;
    if (on) this.#schedule();
  }

  close(): void {
    this.peer.#end('end of file');
    this.#end('closed');
  }

  destroy(reason: string): void {
    this.peer.#dropInbox();
    this.peer.#end('connection reset');
    this.#dropInbox();
    this.#end(reason);
  }

  #dropInbox(): void {
    this.#inbox = [];
    this.#inboxBytes = 0;
  }

  #end(reason: string): void {
    this.#closeReason ??= reason;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#closed || this.#events === undefined) return;
    if (this.#inbox.length > 0 || this.#closeReason !== undefined) this.#deliverSoon();
  }

  #deliver(): void {
    const events = this.#events as ChannelEvents;
    const inbox = this.#inbox; // Another, once it is dropped.
    let taken = 0;
    while (this.#readable && !this.#closed && this.#inbox === inbox) {
      const chunk = inbox[taken];
      if (chunk === undefined) break;
      taken += 1;
      this.#inboxBytes -= chunk.length;
      events.onData(chunk);
    }
    inbox.splice(0, taken); // Each by itself would move all that follow.
    this.peer.#notifyDrain();
    // A paused end learns of the close when its inbox is empty, as with a socket.
    if (this.#closeReason === undefined || this.#inbox.length > 0 || this.#closed) return;
    this.#closed = true;
    events.onClose(this.#closeReason);
  }

  #notifyDrain(): void {
    if (!this.#full || this.peer.#inboxBytes > QUEUE_MARK_BYTES / 2) return;
    this.#full = false;
    this.#events?.onDrain();
  }
}

/** Two connected ends: what one sends the other receives. */
export function memoryChannel(clock: Clock, labelA: string, labelB: string): readonly [Channel, Channel] {
  const a = new MemoryEnd(labelA, clock);
  const b = new MemoryEnd(labelB, clock);
  a.peer = b;
  b.peer = a;
  return [a, b];
}
