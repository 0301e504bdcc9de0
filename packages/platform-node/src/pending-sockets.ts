/**
 * Sockets that have connected and not yet said what they want: a bounded set, each with little time. When it is full
 * the oldest goes: an honest peer needs a millisecond, who has waited longest is the likeliest to be none.
 */

import type { Socket } from 'node:net';

/** How long a peer may take to ask for an upgrade, in ms. */
const PATIENCE_MS = 5000;

export class PendingSockets {
  readonly #max: number;
  readonly #patienceMs: number;
  readonly #timers = new Map<Socket, NodeJS.Timeout>();

  constructor(max: number, patienceMs = PATIENCE_MS) {
    this.#max = max;
    this.#patienceMs = patienceMs;
  }

  get count(): number {
    return this.#timers.size;
  }

  add(socket: Socket): void {
    if (this.#timers.size >= this.#max) {
      for (const oldest of this.#timers.keys()) {
        this.drop(oldest);
        break;
      }
    }
    const timer = setTimeout(() => this.drop(socket), this.#patienceMs);
    timer.unref();
    this.#timers.set(socket, timer);
    // A reset during the wait is no news.
    socket.on('error', () => {});
    socket.on('close', () => this.release(socket));
  }

  /** The socket has become something. */
  release(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }

  drop(socket: Socket): void {
    this.release(socket);
    socket.destroy();
  }

  clear(): void {
    for (const socket of [...this.#timers.keys()]) this.drop(socket);
  }
}
