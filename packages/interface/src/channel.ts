/**
 * Channel: an ordered, reliable stream of bytes between two agents, not authenticated. Platforms make channels (pipes,
 * sockets, message ports, memory); bootcom makes links of them. Chunk borders have no meaning: frames carry their own
 * length.
 */

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
  /** Pauses and resumes delivery; back-pressure for the sender. */
  readable(on: boolean): void;
  /** Sends what is queued, then closes. `onClose` follows. */
  close(): void;
  /** Closes at once; the queue is lost. `onClose(reason)` follows. */
  destroy(reason: string): void;
}
