/**
 * Sockets that have connected and not sent a request yet: a bounded set, each with a deadline. The listener's eviction
 * rule chooses which is dropped when the set is full. New sockets are exempt from eviction for 250 ms: an honest peer
 * sends its request at once, which takes some waits for a CPU where its host is busy, and so has made progress before a
 * burst that arrived with it is evicted. During that time the set may exceed its limit by the size of such a burst;
 * beyond, one of all is dropped. So a peer that is silent for t ms while r others come each ms, all from its address,
 * stays with a probability of at least (1 - 1/(max + 512))^(r t).
 */

import type { Socket } from 'node:net';
import type { EvictionCandidate, SelectEviction } from '@stci/interface';
import { nowMs } from '../system/clock.js';
import { peerAddress } from './addresses.js';

/** Deadline of a peer's request for an upgrade, in ms. */
const REQUEST_MS = 5000;
/** How long a new connection is exempt from eviction, ms: some waits of a busy host for a CPU. */
const EXEMPT_MS = 250;
/** How long it may stay then, ms. */
const CUT_MS = 20;
/** Sockets above the limit during that time: as many as a listener's queue in the system holds. */
const BURST_MAX = 512;

interface Waiting extends EvictionCandidate {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
  progress: number;
}

export class PendingSockets {
  readonly #max: number;
  readonly #selectEviction: SelectEviction;
  readonly #requestMs: number;
  readonly #waiting = new Map<Socket, Waiting>();
  #cutTimer: NodeJS.Timeout | undefined;

  constructor(max: number, selectEviction: SelectEviction, requestMs = REQUEST_MS) {
    this.#max = max;
    this.#selectEviction = selectEviction;
    this.#requestMs = requestMs;
  }

  get count(): number {
    return this.#waiting.size;
  }

  add(socket: Socket, source = peerAddress(socket)): void {
    const timer = setTimeout(() => this.drop(socket), this.#requestMs);
    timer.unref();
    this.#waiting.set(socket, { socket, source, sinceMs: nowMs(), timer, progress: 0 });
    // A reset needs no message: the close that follows releases the socket.
    socket.on('error', () => {});
    socket.on('close', () => this.release(socket));
    if (this.#waiting.size > this.#max + BURST_MAX) this.#evict();
    else if (this.#waiting.size > this.#max) this.#evictSoon();
  }

  /** The peer has proved that it has the key. */
  advance(socket: Socket): void {
    const waiting = this.#waiting.get(socket);
    if (waiting !== undefined) waiting.progress += 1;
  }

  /** The socket has become a channel, or is closed. */
  release(socket: Socket): void {
    clearTimeout(this.#waiting.get(socket)?.timer);
    this.#waiting.delete(socket);
  }

  drop(socket: Socket): void {
    this.release(socket);
    socket.destroy();
  }

  clear(): void {
    clearTimeout(this.#cutTimer);
    for (const socket of [...this.#waiting.keys()]) this.drop(socket);
  }

  #evictSoon(): void {
    this.#cutTimer ??= setTimeout(() => {
      // Requests that have arrived are read first: they count as progress.
      setImmediate(() => {
        this.#cutTimer = undefined;
        this.#cut();
      });
    }, CUT_MS).unref();
  }

  #cut(): void {
    const untilMs = nowMs() - EXEMPT_MS;
    while (this.#waiting.size > this.#max) if (!this.#evict(untilMs)) return this.#evictSoon();
  }

  /** False if those that would have to go are too new. */
  #evict(exemptMs?: number): boolean {
    const pick = (below: number): number => Math.floor(Math.random() * below);
    const victim = this.#selectEviction(this.#waiting.values(), pick, exemptMs);
    if (victim !== undefined) this.drop(victim.socket);
    return victim !== undefined;
  }
}
