/** Messages between ranks: through the session agents, in order for each pair of ranks. */

import {
  PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_RECEIVES_MAX, PROGRAM_TAG, WATCHDOG_MS_MAX, type Form,
} from '@stci/interface';
import type { Answered, Calls } from './calls.js';
import { checkFunction, checkInteger, checkOptions, checkRank, checkTag } from './checks.js';
import type { Message, ReceiveOptions, SendOptions } from './contracts.js';
import { ClientError, argumentError } from './errors.js';
import { OWN_LIMITS, PROGRAM_LIMITS, SendQueue } from './send-queue.js';
import { decodeValue, encodeValue, type Encoded } from './values.js';

/** Nobody is left who could send. */
const NONE_LEFT: readonly string[] = ['STCI_CLIENT_RANK_LOST', 'STCI_CLIENT_RANK_ENDED'];

interface Sending {
  readonly tag: string;
  readonly encoded: Encoded;
  /** Of the call. */
  readonly name: string;
}

export class Messages {
  readonly #calls: Calls;
  readonly #rank: number;
  readonly #size: number;
  readonly #queue = new SendQueue(PROGRAM_LIMITS);
  readonly #ownQueue = new SendQueue(OWN_LIMITS);
  #receives = 0;
  /** Handlers for which nobody was left. */
  readonly #stopped = new Set<() => void>();

  constructor(calls: Calls, rank: number, size: number) {
    this.#calls = calls;
    this.#rank = rank;
    this.#size = size;
  }

  async send(to: number, value: unknown, options: SendOptions = {}): Promise<void> {
    const name = 'send()';
    checkOptions(name, options, ['tag']);
    const { tag = PROGRAM_TAG } = options;
    checkRank(name, to, this.#size);
    checkTag(name, tag);
    const encoded = encodeValue(name, value, PROGRAM_MESSAGE_BYTES_MAX);
    await this.#send(this.#queue, to, { tag, encoded, name });
  }

  async receive(options: ReceiveOptions = {}): Promise<Message> {
    const name = 'receive()';
    checkOptions(name, options, ['from', 'tag', 'waitMs', 'signal']);
    const { from, tag, waitMs, signal } = options;
    if (from !== undefined) checkRank(name, from, this.#size);
    if (tag !== undefined) checkTag(name, tag);
    if (waitMs !== undefined) checkInteger(name, 'waitMs', waitMs, 0, WATCHDOG_MS_MAX);
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw argumentError(name, 'signal is no AbortSignal');
    signal?.throwIfAborted();
    return messageOf(await this.#receive({ from, tag, waitMs }, name, signal));
  }

  onMessage(tag: string, handler: (message: Message) => unknown): () => void {
    checkTag('onMessage()', tag);
    checkFunction('onMessage()', handler);
    const ending = new AbortController();
    void this.#handle(tag, handler, ending.signal);
    return () => ending.abort();
  }

  /** A message of the library itself. */
  pass(to: number, tag: string, bytes: Uint8Array, name: string): Promise<void> {
    return this.#send(this.#ownQueue, to, { tag, encoded: { form: 'bytes', bytes }, name });
  }

  async take(from: number, tag: string, name: string, signal?: AbortSignal): Promise<Answered> {
    return this.#receive({ from, tag }, name, signal, signal !== undefined);
  }

  /** Keeps the process running while this one waits. */
  async holding<T>(wait: Promise<T>): Promise<T> {
    this.#calls.hold();
    try {
      return await wait;
    } finally {
      this.#calls.release();
    }
  }

  /** Takes a message away, if it has come. */
  async discard(from: number, tag: string): Promise<void> {
    await this.#receive({ from, tag, waitMs: 0 }, 'receive()').catch(() => undefined);
  }

  /** Handlers that nobody was left for may get messages again. */
  resume(): void {
    for (const go of [...this.#stopped]) go();
  }

  #send(queue: SendQueue, to: number, { tag, encoded, name }: Sending): Promise<void> {
    const { form, bytes } = encoded;
    return new Promise((resolve, reject) => {
      if (this.#calls.closed !== undefined) return reject(this.#calls.closed);
      queue.add(to, bytes.length, async () => {
        const sent = this.#calls.call({ type: 'send', to, tag, form }, { bytes, name });
        await sent.then(() => resolve(), reject);
        if (to === this.#rank) this.resume();
      });
    });
  }

  async #receive(
    wanted: Pick<ReceiveOptions, 'from' | 'tag' | 'waitMs'>, name: string, signal?: AbortSignal, isIdle = false,
  ): Promise<Answered> {
    if (this.#receives >= PROGRAM_RECEIVES_MAX) {
      throw new ClientError('STCI_CLIENT_LIMIT', `${name}: more than ${PROGRAM_RECEIVES_MAX} receives wait`);
    }
    const id = this.#calls.next;
    const cancel = (): void => void (this.#calls.closed ?? this.#calls.send({ type: 'cancel', id }));
    this.#receives += 1;
    signal?.addEventListener('abort', cancel);
    try {
      return await this.#calls.call({ type: 'receive', ...wanted }, { name, isIdle });
    } catch (fault) {
      if (signal?.aborted === true && (fault as ClientError).code === 'STCI_CLIENT_CANCELLED') throw signal.reason;
      throw fault;
    } finally {
      this.#receives -= 1;
      signal?.removeEventListener('abort', cancel);
    }
  }

  async #handle(tag: string, handler: (message: Message) => unknown, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#calls.closed === undefined) {
      const found = await this.#receive({ tag }, 'onMessage()', signal, true).catch((fault: unknown) => {
        if (NONE_LEFT.includes((fault as ClientError).code)) return this.#untilResumed(signal);
        if (signal.aborted || this.#calls.closed !== undefined) return undefined;
        throw fault;
      });
      if (found !== undefined) await handler(messageOf(found));
    }
  }

  #untilResumed(signal: AbortSignal): Promise<undefined> {
    return new Promise((resolve) => {
      const go = (): void => {
        this.#stopped.delete(go);
        resolve(undefined);
      };
      this.#stopped.add(go);
      signal.addEventListener('abort', go, { once: true });
    });
  }
}

function messageOf({ event, bytes }: Answered): Message {
  const { from, tag, form } = event as unknown as { from: number; tag: string; form: Form };
  return { from, tag, value: decodeValue({ form, bytes }) };
}
