/**
 * Sends that wait for room: a program may have so much unanswered at its agent, and so much of it for one rank, so that
 * a rank that receives nothing does not hinder sends to others. In order for each receiver.
 */

import {
  PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_SENDS_BYTES_MAX, PROGRAM_SENDS_MAX,
} from '@stci/interface';

/** Unanswered sends to one rank; their bytes are those of one message at most. */
const RECEIVER_SENDS_MAX = 64;

/** Unanswered sends of one queue, and their bytes. */
export interface SendLimits {
  readonly count: number;
  readonly bytes: number;
}

/** What the library sends for collectives and streams waits for no message of the program. */
export const OWN_LIMITS: SendLimits = { count: 2 * RECEIVER_SENDS_MAX, bytes: PROGRAM_MESSAGE_BYTES_MAX };
export const PROGRAM_LIMITS: SendLimits = {
  count: PROGRAM_SENDS_MAX - OWN_LIMITS.count, bytes: PROGRAM_SENDS_BYTES_MAX - OWN_LIMITS.bytes,
};

if (RECEIVER_SENDS_MAX * 2 > PROGRAM_LIMITS.count || PROGRAM_MESSAGE_BYTES_MAX * 2 > PROGRAM_LIMITS.bytes) {
  throw new Error('sends to one rank are at most half of all');
}

interface Send {
  readonly bytes: number;
  start(): Promise<unknown>;
}

interface Receiver {
  count: number;
  bytes: number;
  readonly waiting: Send[];
}

export class SendQueue {
  readonly #limits: SendLimits;
  readonly #receivers = new Map<number, Receiver>();
  #count = 0;
  #bytes = 0;
  /** A send waits for others to other ranks. */
  #isBlocked = false;

  constructor(limits: SendLimits) {
    this.#limits = limits;
  }

  /** Calls `start` once there is room, after those before it; it resolves when the send is answered. */
  add(to: number, bytes: number, start: () => Promise<unknown>): void {
    const receiver = this.#receivers.get(to) ?? { count: 0, bytes: 0, waiting: [] };
    this.#receivers.set(to, receiver);
    receiver.waiting.push({ bytes, start });
    this.#pump(to, receiver);
  }

  #pump(to: number, receiver: Receiver): void {
    for (let next = receiver.waiting[0]; next !== undefined && this.#fits(receiver, next.bytes);) {
      receiver.waiting.shift();
      void this.#start(to, receiver, next);
      next = receiver.waiting[0];
    }
    if (receiver.count === 0 && receiver.waiting.length === 0) this.#receivers.delete(to);
  }

  async #start(to: number, receiver: Receiver, { bytes, start }: Send): Promise<void> {
    this.#take(receiver, 1, bytes);
    await start().catch(() => undefined); // Told to whoever called it.
    this.#take(receiver, -1, -bytes);
    this.#pump(to, receiver);
    if (!this.#isBlocked) return;
    this.#isBlocked = false;
    for (const each of [...this.#receivers]) this.#pump(...each);
  }

  #take(receiver: Receiver, count: number, bytes: number): void {
    receiver.count += count;
    receiver.bytes += bytes;
    this.#count += count;
    this.#bytes += bytes;
  }

  #fits(receiver: Receiver, bytes: number): boolean {
    const own = receiver.count < RECEIVER_SENDS_MAX && receiver.bytes + bytes <= PROGRAM_MESSAGE_BYTES_MAX;
    if (!own) return false;
    const hasRoom = this.#count < this.#limits.count && this.#bytes + bytes <= this.#limits.bytes;
    this.#isBlocked ||= !hasRoom;
    return hasRoom;
  }
}
