/**
 * Streams of a program over a topology: values go down its spanning tree from the root to all, and up it again,
 * combined on the way. Made of messages between neighbours in that tree: each is delivered once and in order.
 *
 * A rank that cannot pass a value on passes on why: who is farther down, or up, does not wait for it. So does one that
 * closes the stream with values that it has not received.
 */

import { PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_TAG_CHARS_MAX } from '@stci/interface';
import type { Combine, Group, Stream } from './contracts.js';
import { ClientError, argumentError } from './errors.js';
import type { Messages } from './messages.js';
import { errorOf, opened, sealedError, sealedValue } from './reduce-tree.js';
import { encodeValue } from './values.js';

/** Values from above that wait to be received; more wait with those above. */
const WAITING_MAX = 16;

/** Longest tag of a stream, in characters: `_d.`, its number and `.` come before it. */
export const STREAM_TAG_CHARS_MAX = PROGRAM_TAG_CHARS_MAX - '_d.1234567890.'.length;

export interface StreamInit<T> {
  readonly messages: Messages;
  readonly group: Group;
  /** Of this stream only; for messages of the library. */
  readonly label: string;
  /** Places of the group, in the stream's tree; undefined: this is the root. */
  readonly parent: number | undefined;
  readonly children: readonly number[];
  readonly combine: Combine<T> | undefined;
}

export class TreeStream<T> implements Stream<T> {
  readonly #init: StreamInit<T>;
  readonly #ending = new AbortController();
  /** From above, in order; each is received once. */
  readonly #values: unknown[] = [];
  #wake: (() => void) | undefined;
  #resume: (() => void) | undefined;
  #error: ClientError | undefined;
  #lastUp: Promise<unknown> = Promise.resolve();
  #lastDown: Promise<unknown> = Promise.resolve();
  #lastReceive: Promise<unknown> = Promise.resolve();

  constructor(init: StreamInit<T>) {
    this.#init = init;
    if (init.parent !== undefined) void this.#passDown(init.parent);
  }

  multicast(value: unknown): Promise<void> {
    const turn = this.#lastDown.then(async () => {
      const name = 'multicast()';
      if (this.#init.parent !== undefined) throw argumentError(name, 'this rank is not the root of the stream');
      if (this.#error !== undefined) throw this.#error;
      await this.#sendDown(sealedValue(encodeValue(name, value, PROGRAM_MESSAGE_BYTES_MAX - 1)), name);
    });
    this.#lastDown = turn.catch(() => undefined);
    return turn;
  }

  receive(): Promise<unknown> {
    const turn = this.#lastReceive.then(() => this.#receive());
    this.#lastReceive = turn.catch(() => undefined);
    return turn;
  }

  /** One at a time. */
  async #receive(): Promise<unknown> {
    if (this.#init.parent === undefined) throw argumentError('receive()', 'the root of a stream receives nothing');
    while (this.#values.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      await this.#init.messages.holding(new Promise<void>((resolve) => (this.#wake = resolve)));
    }
    this.#resume?.();
    return this.#values.shift();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    while (!this.#ending.signal.aborted) yield await this.receive();
  }

  reduce(value: T): Promise<T | undefined> {
    const turn = this.#lastUp.then(() => this.#reduce(value));
    this.#lastUp = turn.catch(() => undefined);
    return turn;
  }

  close(): void {
    this.#fail(new ClientError('STCI_CLIENT_CLOSED', `The stream ${this.#init.label} was closed by close()`));
    this.#ending.abort();
  }

  async #reduce(value: T): Promise<T | undefined> {
    const name = 'reduce()';
    const { messages, children, parent, combine } = this.#init;
    if (combine === undefined) throw argumentError(name, 'the stream was opened without combine');
    if (this.#error !== undefined) throw this.#error;
    try {
      let sum = value;
      for (const child of children) {
        const { bytes } = await messages.take(this.#rank(child), this.#tag('u'), name);
        sum = await combine(sum, opened(bytes) as T);
      }
      if (parent === undefined) return sum;
      const up = sealedValue(encodeValue(name, sum, PROGRAM_MESSAGE_BYTES_MAX - 1));
      await messages.pass(this.#rank(parent), this.#tag('u'), up, name);
      return undefined;
    } catch (fault) {
      const error = errorOf(name, fault);
      this.#fail(error);
      if (parent !== undefined) {
        await messages.pass(this.#rank(parent), this.#tag('u'), sealedError(error), name).catch(() => undefined);
      }
      throw error;
    }
  }

  /** Passes chunks down until the stream is closed or fails. */
  async #passDown(parent: number): Promise<void> {
    const name = 'receive()';
    try {
      for (;;) {
        const { bytes } = await this.#init.messages.take(this.#rank(parent), this.#tag('d'), name, this.#ending.signal);
        const value = opened(bytes); // What failed above is passed on below.
        await this.#sendDown(bytes, name);
        this.#values.push(value);
        this.#wake?.();
        while (this.#values.length >= WAITING_MAX && this.#error === undefined) {
          await new Promise<void>((resolve) => (this.#resume = resolve));
        }
        if (this.#error !== undefined) throw this.#error;
      }
    } catch (fault) {
      const isClosed = this.#ending.signal.aborted;
      if (isClosed && this.#values.length === 0) return;
      const error = isClosed ? this.#closedError() : errorOf(name, fault);
      this.#fail(error);
      await this.#sendDown(sealedError(error), name).catch(() => undefined);
    }
  }

  async #sendDown(bytes: Uint8Array, name: string): Promise<void> {
    const { messages, children } = this.#init;
    const sends = children.map((child) => messages.pass(this.#rank(child), this.#tag('d'), bytes, name));
    const results = await Promise.allSettled(sends);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw errorOf(name, failed.reason);
  }

  #fail(error: ClientError): void {
    this.#error ??= error;
    this.#wake?.();
    this.#resume?.();
  }

  /** Error that those below get. */
  #closedError(): ClientError {
    const { group, label } = this.#init;
    return new ClientError('STCI_CLIENT_CLOSED', `The stream ${label} was closed by rank ${this.#rank(group.rank)}`);
  }

  #rank(place: number): number {
    return this.#init.group.ranks[place] as number;
  }

  #tag(way: 'd' | 'u'): string {
    return `_${way}.${this.#init.label}`;
  }
}
