/**
 * A channel that can be used before what carries it is ready: sockets whose code is still being loaded, an ssh client
 * whose host has not started the agent yet. What is sent waits; from `open` or `become` on, it is the inner channel and
 * nothing more. It is here because platforms and components both defer channels and may import nothing else in common.
 */

import { assert } from './errors.js';
import type { Channel, ChannelEvents } from './channel.js';

/** `send` returns false while more than this waits, in bytes. */
const WAITING_BYTES_MARK = 1024 * 1024;

const NOTHING = new Uint8Array();

export interface DeferredChannelInit {
  readonly kind: string;
  readonly label: string;
  /** Runs in a later turn, as Clock.soon does. */
  readonly soon: (fire: () => void) => void;
  /** Known already, though not to be used before `open`; its owner has bound it and passes on what it tells. */
  readonly inner?: Channel | undefined;
}

export class DeferredChannel implements Channel {
  readonly kind: string;
  readonly label: string;
  readonly #soon: (fire: () => void) => void;
  #inner: Channel | undefined;
  #events: ChannelEvents | undefined;
  #isOpen = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #held: Uint8Array[] = [];
  #wantsData = true;
  #isClosing = false;
  #closed: string | undefined;
  #isTold = false;

  constructor({ kind, label, soon, inner }: DeferredChannelInit) {
    this.kind = kind;
    this.label = label;
    this.#soon = soon;
    this.#inner = inner;
  }

  get queuedBytes(): number {
    return this.#waitingBytes + (this.#inner?.queuedBytes ?? 0);
  }

  // For the channel's user.

  bind(events: ChannelEvents): void {
    assert(this.#events === undefined, `${this.label} has its receiver already`);
    this.#events = events;
    this.#settleSoon();
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#closed !== undefined || this.#isClosing) return false;
    if (this.#isOpen) return (this.#inner as Channel).send(chunks);
    for (const chunk of chunks) {
      this.#waiting.push(chunk);
      this.#waitingBytes += chunk.length;
    }
    return this.#waitingBytes <= WAITING_BYTES_MARK;
  }

  readable(on: boolean): void {
    this.#wantsData = on;
    if (this.#isOpen) this.#inner?.readable(on);
    if (on) this.#settleSoon();
  }

  /** What waits is still sent where the inner channel is to come; one that is known but not open is given up. */
  close(): void {
    this.#isClosing = true;
    if (this.#isOpen) this.#inner?.close();
    else if (this.#inner !== undefined) this.destroy('closed');
  }

  destroy(reason: string): void {
    if (this.#inner !== undefined) this.#inner.destroy(reason);
    else this.#soon(() => this.end(reason));
  }

  // For whoever makes the inner channel ready.

  /** The inner channel, which nobody has bound, is there and ready. Called once. */
  become(inner: Channel): void {
    assert(this.#inner === undefined, `${this.label} has its inner channel already`);
    if (this.#closed !== undefined) return inner.destroy(this.#closed);
    this.#inner = inner;
    inner.bind({
      onData: (chunk) => this.onData(chunk),
      onDrain: () => this.onDrain(),
      onClose: (reason) => this.end(reason),
    });
    this.open(NOTHING);
  }

  /** The inner channel may be used: what waited is sent. `first`: bytes for the receiver that were read already. */
  open(first: Uint8Array): void {
    const inner = this.#inner;
    assert(inner !== undefined && !this.#isOpen, 'a deferred channel is opened once');
    this.#isOpen = true;
    const wasFull = this.#waitingBytes > WAITING_BYTES_MARK;
    const goesOn = this.#waiting.length === 0 || inner.send(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    inner.readable(this.#wantsData);
    if (first.length > 0) this.onData(first);
    if (this.#isClosing) inner.close();
    else if (wasFull && goesOn) this.#events?.onDrain();
  }

  onData(chunk: Uint8Array): void {
    if (this.#events !== undefined && this.#wantsData && this.#held.length === 0) this.#events.onData(chunk);
    else this.#held.push(chunk);
  }

  onDrain(): void {
    if (this.#isOpen) this.#events?.onDrain();
  }

  /** The end, told once. */
  end(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#settle();
  }

  #settleSoon(): void {
    if (this.#held.length > 0 || this.#closed !== undefined) this.#soon(() => this.#settle());
  }

  /** Tells what is still to be told, in order: bytes that were held, then the end. */
  #settle(): void {
    const events = this.#events;
    if (events === undefined || this.#isTold) return;
    while (this.#held.length > 0 && this.#wantsData) events.onData(this.#held.shift() as Uint8Array);
    if (this.#closed === undefined || this.#held.length > 0) return;
    this.#isTold = true;
    events.onClose(this.#closed);
  }
}
