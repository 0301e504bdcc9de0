/**
 * Channel: an ordered, reliable stream of bytes between two agents, before anything is known of who is at the
 * other end. Platforms make channels (pipes, sockets, message ports, memory); bootcom makes links of them.
 * Where a chunk begins and ends means nothing: frames carry their own length.
 */

export interface ChannelEvents {
  /** Bytes in order. The receiver owns the chunk from now on. */
  onData(chunk: Uint8Array): void;
  /** More may be sent after `send` returned false. */
  onDrain(): void;
  /** Called exactly once, last. `reason` is for people: `end of file`, `connection refused`. */
  onClose(reason: string): void;
}

export interface Channel {
  /** `stdio`, `ws`, `memory`, `thread`: for logs and `stci info`. */
  readonly kind: string;
  /** The other end in words, for messages: `child 4711`, `ws://127.0.0.1:40123`. */
  readonly label: string;
  /** Bytes accepted and not yet handed to the system. */
  readonly queuedBytes: number;
  /** Registers the one receiver. Nothing is delivered before, and nothing is lost. */
  bind(events: ChannelEvents): void;
  /**
   * Takes the chunks in order, without copying them: the sender must not change them afterwards. Returns false
   * when the queue is over the platform's mark; all is taken all the same.
   */
  send(chunks: readonly Uint8Array[]): boolean;
  /** Stops and resumes delivery; the far end feels it as back-pressure. */
  readable(on: boolean): void;
  /** Sends what is queued, then closes. `onClose` follows. */
  close(): void;
  /** Closes at once; what is queued is lost. `onClose(reason)` follows. */
  destroy(reason: string): void;
}
