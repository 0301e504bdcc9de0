/**
 * Channel: an ordered, reliable stream of bytes between two agents, not authenticated. Platforms make channels (pipes,
 * sockets, message ports, memory); bootcom makes links of them. Chunk borders have no meaning: frames carry their own
 * length.
 */

import { assert } from './errors.js';

export interface ChannelEvents {
  /** Bytes in order. The receiver owns the chunk. */
  onData(chunk: Uint8Array): void;
  /** There is room again after `send` returned false. */
  onDrain(): void;
  /** Called exactly once, last. `reason` is for messages: `end of file`, `connection refused`. */
  onClose(reason: string): void;
}

export interface Channel {
  /** `stdio`, `ws`, `unix`, `memory`, `thread`: for logs and `stci info`. */
  readonly kind: string;
  /** Description of the other end for messages: `process 4711`, `ws://127.0.0.1:40123`. */
  readonly label: string;
  /** Bytes accepted and not yet written to the system. */
  readonly queuedBytes: number;
  /** Registers the only receiver. Nothing is delivered before, and nothing is lost. */
  bind(events: ChannelEvents): void;
  /**
   * Sends the chunks in order, without copying them: the sender must not change them afterwards. Returns false if the
   * queue exceeds the platform's mark; the chunks are queued all the same.
   */
  send(chunks: readonly Uint8Array[]): boolean;
  /** Writes to the system what has been sent in this turn, which else is written at the turn's end, together. */
  flush?(): void;
  /** Pauses and resumes delivery; back-pressure for the sender. */
  readable(on: boolean): void;
  /** Sends what is queued, then closes. `onClose` follows. */
  close(): void;
  /** Closes at once; the queue is lost. `onClose(reason)` follows. */
  destroy(reason: string): void;
}

/** Bytes in the queue beyond which `send` returns false. */
const WAITING_BYTES_MARK = 1024 * 1024;

const NOTHING = new Uint8Array();

export interface DeferredChannelInit {
  readonly kind: string;
  readonly label: string;
  /** Runs in a later turn, as Clock.soon does. */
  readonly soon: (fire: () => void) => void;
  /**
   * An inner channel that exists but must not be used before `open`; its owner has bound it and forwards its events.
   */
  readonly inner?: Channel | undefined;
}

/**
 * A channel that can be used before its transport is ready: sockets whose code is still being loaded, an ssh client
 * whose host has not started the agent yet. It queues what is sent; from `open` or `become` on, it only forwards to and
 * from the inner channel. It is here because platforms and components both defer channels and have no other import in
 * common.
 */
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
  #isCloseReported = false;

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

  /** The queue is still sent if the inner channel does not exist yet; one that exists but is not open is destroyed. */
  close(): void {
    this.#isClosing = true;
    if (this.#isOpen) this.#inner?.close();
    else if (this.#inner !== undefined) this.destroy('closed');
  }

  /** The end is not left to the inner channel, whose owner may report it late: ssh, when it gives up to connect. */
  destroy(reason: string): void {
    this.#inner?.destroy(reason);
    this.#soon(() => this.end(reason));
  }

  // For the owner of the inner channel.

  /** Uses `inner`, which is ready and has no receiver. Called once. `onClosed`: before the receiver is told. */
  become(inner: Channel, onClosed: () => void = () => undefined): void {
    assert(this.#inner === undefined, `${this.label} has its inner channel already`);
    if (this.#closed !== undefined) return inner.destroy(this.#closed);
    this.#inner = inner;
    inner.bind({
      onData: (chunk) => this.onData(chunk),
      onDrain: () => this.onDrain(),
      onClose: (reason) => {
        onClosed();
        this.end(reason);
      },
    });
    this.open(NOTHING);
  }

  /** Opens the inner channel and sends the queue. `first`: bytes for the receiver that were read already. */
  open(first: Uint8Array): void {
    const inner = this.#inner;
    assert(inner !== undefined && !this.#isOpen, 'a deferred channel is opened once');
    this.#isOpen = true;
    const wasFull = this.#waitingBytes > WAITING_BYTES_MARK;
    const hasRoom = this.#waiting.length === 0 || inner.send(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    inner.readable(this.#wantsData);
    if (first.length > 0) this.onData(first);
    if (this.#isClosing) inner.close();
    else if (wasFull && hasRoom) this.#events?.onDrain();
  }

  onData(chunk: Uint8Array): void {
    if (this.#events !== undefined && this.#wantsData && this.#held.length === 0) this.#events.onData(chunk);
    else this.#held.push(chunk);
  }

  onDrain(): void {
    if (this.#isOpen) this.#events?.onDrain();
  }

  /** The inner channel has closed; the receiver is notified once. */
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

  /** Delivers pending events in order: held bytes, then the close. */
  #settle(): void {
    const events = this.#events;
    if (events === undefined || this.#isCloseReported) return;
    while (this.#held.length > 0 && this.#wantsData) events.onData(this.#held.shift() as Uint8Array);
    if (this.#closed === undefined || this.#held.length > 0) return;
    this.#isCloseReported = true;
    events.onClose(this.#closed);
  }
}
