/** A queue for one reader: what is pushed before it comes waits; what is there when it goes is dropped. */

import { StciError } from '@stci/interface';

/** Items that may have been taken from the front before the rest is moved there. */
const TAKEN_MAX = 1024;

export class Feed<Item> {
  readonly #name: string;
  readonly #onDropped: (item: Item) => void;
  #items: Item[] = [];
  /** Items before it have been taken. */
  #at = 0;
  #state: 'unread' | 'read' | 'left' = 'unread';
  #isOver = false;
  #error: unknown;
  #wake: () => void = () => undefined;

  /** `name`: for messages. `onDropped`: called for each item that nobody will read. */
  constructor(name: string, onDropped: (item: Item) => void = () => undefined) {
    this.#name = name;
    this.#onDropped = onDropped;
  }

  get size(): number {
    return this.#items.length - this.#at;
  }

  get isRead(): boolean {
    return this.#state === 'read';
  }

  push(item: Item): void {
    if (this.#state === 'left') return this.#onDropped(item);
    this.#items.push(item);
    this.#wake();
  }

  /** The oldest item; undefined if there is none. */
  take(): Item | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#at];
    this.#at += 1;
    if (this.#at > TAKEN_MAX || this.size === 0) {
      this.#items = this.#items.slice(this.#at);
      this.#at = 0;
    }
    return item;
  }

  /** No more comes; with an error, reading ends with that. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  /** Items wait as they are; `call` sees each. */
  forEach(call: (item: Item) => void): void {
    for (let at = this.#at; at < this.#items.length; at += 1) call(this.#items[at] as Item);
  }

  /** Nobody reads: drops what is there and what comes. */
  leave(): void {
    this.#state = 'left';
    for (let item = this.take(); item !== undefined; item = this.take()) this.#onDropped(item);
  }

  /** Throws STCI_USAGE when it is read a second time. */
  async *read(): AsyncGenerator<Item, void, undefined> {
    if (this.#state !== 'unread') throw new StciError('STCI_USAGE', `${this.#name} is read already. Read it once.`);
    this.#state = 'read';
    try {
      for (;;) {
        const item = this.take();
        if (item !== undefined) yield item;
        else if (this.#isOver) break;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.leave();
    }
  }
}
