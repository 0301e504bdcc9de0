/**
 * Sockets that have connected and not yet said what they want: a bounded set, each with little time. Who goes when it
 * is full: `crowdVictim` of the contracts. The set is cut to its bound a turn late: what has come from an honest peer
 * in the same turn as the crowd is read before, and takes it out of the crowd's way.
 */

import type { Socket } from 'node:net';
import { crowdVictim } from '@stci/interface';

/** How long a peer may take to ask for an upgrade, in ms. */
const PATIENCE_MS = 5000;

interface Waiting {
  readonly socket: Socket;
  readonly source: string;
  readonly timer: NodeJS.Timeout;
  progress: number;
}

export class PendingSockets {
  readonly #max: number;
  readonly #patienceMs: number;
  readonly #waiting = new Map<Socket, Waiting>();
  #cutScheduled = false;

  constructor(max: number, patienceMs = PATIENCE_MS) {
    this.#max = max;
    this.#patienceMs = patienceMs;
  }

  get count(): number {
    return this.#waiting.size;
  }

  add(socket: Socket, source = socket.remoteAddress ?? ''): void {
    const timer = setTimeout(() => this.drop(socket), this.#patienceMs);
    timer.unref();
    this.#waiting.set(socket, { socket, source, timer, progress: 0 });
    // A reset during the wait is no news.
    socket.on('error', () => {});
    socket.on('close', () => this.release(socket));
    // Twice the bound is the end of patience: a flood in one turn is cut in that turn.
    if (this.#waiting.size > 2 * this.#max) this.#cut(this.#max);
    else if (this.#waiting.size > this.#max) this.#cutSoon();
  }

  /** The socket has shown that it has the key. */
  advance(socket: Socket): void {
    const waiting = this.#waiting.get(socket);
    if (waiting !== undefined) waiting.progress += 1;
  }

  /** The socket has become something. */
  release(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket)?.timer);
    this.#waiting.delete(socket);
  }

  drop(socket: Socket): void {
    this.release(socket);
    socket.destroy();
  }

  clear(): void {
    for (const socket of [...this.#waiting.keys()]) this.drop(socket);
  }

  /** After the next reading of sockets. */
  #cutSoon(): void {
    if (this.#cutScheduled) return;
    this.#cutScheduled = true;
    setImmediate(() => setImmediate(() => {
      this.#cutScheduled = false;
      this.#cut(this.#max);
    }));
  }

  #cut(max: number): void {
    while (this.#waiting.size > max) {
      const victim = crowdVictim(this.#waiting.values(), (below) => Math.floor(Math.random() * below));
      if (victim === undefined) return;
      this.drop(victim.socket);
    }
  }
}
