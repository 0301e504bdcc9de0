/**
 * The agent's channel while there is no agent yet: what is sent waits, what comes is not for the receiver, and the end
 * is told when it is known why. Once open it is the ssh client's channel and nothing more.
 */

import { assert, type Channel, type ChannelEvents, type Clock } from '@stci/interface';

/** `send` returns false while more than this waits, in bytes. */
const WAITING_BYTES_MARK = 1024 * 1024;

export class GatedChannel implements Channel {
  readonly kind = 'stdio';
  readonly label: string;
  readonly #clock: Clock;
  readonly #inner: Channel | undefined;
  #events: ChannelEvents | undefined;
  #isOpen = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #held: Uint8Array[] = [];
  #wantsData = true;
  #isClosing = false;
  #closed: string | undefined;
  #isTold = false;

  /** Without `inner`: a start that failed before there was one. */
  constructor(label: string, clock: Clock, inner: Channel | undefined) {
    this.label = label;
    this.#clock = clock;
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

  close(): void {
    this.#isClosing = true;
    if (this.#isOpen) this.#inner?.close();
    else this.destroy('closed');
  }

  destroy(reason: string): void {
    if (this.#inner === undefined) this.end(reason);
    else this.#inner.destroy(reason);
  }

  // For whoever starts the agent.

  /** The agent's turn: what waited is sent. `first`: its first bytes, which came with the last of ours. */
  open(first: Uint8Array): void {
    const inner = this.#inner;
    assert(inner !== undefined && !this.#isOpen, 'a gate is opened once');
    this.#isOpen = true;
    const wasFull = this.#waitingBytes > WAITING_BYTES_MARK;
    const goesOn = this.#waiting.length === 0 || inner.send(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    inner.readable(this.#wantsData);
    if (first.length > 0) this.onData(first);
    if (wasFull && goesOn) this.#events?.onDrain();
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
    if (this.#held.length > 0 || this.#closed !== undefined) this.#clock.soon(() => this.#settle());
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
