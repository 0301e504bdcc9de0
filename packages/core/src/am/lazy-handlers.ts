/**
 * Handlers that are not here yet: those of a part of the program that is loaded when the first message for it comes.
 * What comes meanwhile is held, in order; whoever waits for an answer has a deadline of its own.
 */

import { StciError, assert } from '@stci/interface';
import type { MessageName } from '../messages/messages.js';
import type { Received } from './dispatch-queue.js';

/** Calls `done` when the handlers are set, or with why they cannot be; at once where there is nothing to load. */
export type LoadHandlers = (done: (error?: StciError) => void) => void;

/** Messages of one part that are held, and their bytes. */
const HELD_MAX = 1024;
const HELD_BYTES_MAX = 16 * 1024 * 1024;

interface Part {
  readonly load: LoadHandlers;
  readonly held: Received[];
  bytes: number;
  error?: StciError;
}

export class LazyHandlers {
  readonly #handle: (received: Received, error?: StciError) => void;
  readonly #parts = new Map<MessageName, Part>();

  /** `handle` gets what was held: there are handlers, or `error` says why not. */
  constructor(handle: (received: Received, error?: StciError) => void) {
    this.#handle = handle;
  }

  /** The first message of any of these types has their handlers loaded. */
  add(names: readonly MessageName[], load: LoadHandlers): void {
    const part: Part = { load, held: [], bytes: 0 };
    for (const name of names) {
      assert(!this.#parts.has(name), `message ${name} is loaded by one part`);
      this.#parts.set(name, part);
    }
  }

  /**
   * Whether a message without a handler is held until there is one. Throws STCI_MESSAGE_WINDOW where too many are, and
   * what is wrong where the handlers cannot be loaded.
   */
  hold(name: MessageName, received: Received): boolean {
    const part = this.#parts.get(name);
    if (part === undefined) return false;
    if (part.error !== undefined) throw part.error;
    if (part.held.length >= HELD_MAX || part.bytes + received.body.length > HELD_BYTES_MAX) {
      const text = `${part.held.length} messages of ${part.bytes} bytes wait for what handles ${name} to be loaded`;
      throw new StciError('STCI_MESSAGE_WINDOW', `${text}: no more are taken`);
    }
    part.bytes += received.body.length;
    if (part.held.push(received) === 1) part.load((error) => this.#loaded(part, error));
    return true;
  }

  #loaded(part: Part, error: StciError | undefined): void {
    if (error !== undefined) part.error = error;
    else for (const [name, each] of this.#parts) if (each === part) this.#parts.delete(name);
    part.bytes = 0;
    for (const received of part.held.splice(0)) this.#handle(received, error);
  }
}
