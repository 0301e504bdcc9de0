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
/** Of either, what one agent may take, of which one message is always held. */
const SOURCE_SHARE = 1 / 8;

interface Part {
  readonly load: LoadHandlers;
  readonly held: Received[];
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
    const part: Part = { load, held: [] };
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
    const own = part.held.filter(({ header: { source } }) => source === received.header.source);
    if (!hasRoom(part.held, received, 1) || (own.length > 0 && !hasRoom(own, received, SOURCE_SHARE))) {
      const text = `${part.held.length} messages, ${own.length} of this agent, wait for what handles ${name}`;
      throw new StciError('STCI_MESSAGE_WINDOW', `${text} to be loaded: no more are taken`);
    }
    if (part.held.push(received) === 1) part.load((error) => this.#loaded(part, error));
    return true;
  }

  #loaded(part: Part, error: StciError | undefined): void {
    if (error !== undefined) part.error = error;
    else for (const [name, each] of this.#parts) if (each === part) this.#parts.delete(name);
    for (const received of part.held.splice(0)) this.#handle(received, error);
  }
}

function hasRoom(held: readonly Received[], { body }: Received, share: number): boolean {
  const bytes = held.reduce((sum, each) => sum + each.body.length, body.length);
  return held.length < HELD_MAX * share && bytes <= HELD_BYTES_MAX * share;
}
