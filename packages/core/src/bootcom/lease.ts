/**
 * Lease of a link: a cut cable gives no end of file, only silence does. Each end says something every quarter of the
 * lease at least, anything counts; after half of it the peer is doubted, after all of it the link is lost. One timer
 * a link, and nothing of it on the path of a message but two flags.
 *
 * Only time in which this end could hear counts: not while its process was stopped, or so busy that its timers came
 * late, nor while it did not read.
 */

import type { Clock, Timer } from '@stci/interface';

export interface LeaseInit {
  readonly clock: Clock;
  /** At least 4 ms. */
  readonly leaseMs: number;
}

export interface LeaseEvents {
  sayAlive(): void;
  doubt(doubted: boolean): void;
  /** Told once. */
  expire(silentMs: number): void;
}

export class Lease {
  readonly #init: LeaseInit;
  readonly #events: LeaseEvents;
  #heardMs: number;
  #saidMs: number;
  /** Silence that the peer has announced, beyond the lease. */
  #promisedMs = 0;
  #promiseMs = 0;
  #lookMs: number;
  #listening = true;
  #heardSince = false;
  #saidSince = false;
  #doubted = false;
  #timer: Timer | undefined;

  constructor(init: LeaseInit, events: LeaseEvents) {
    this.#init = init;
    this.#events = events;
    this.#heardMs = init.clock.nowMs();
    this.#saidMs = this.#heardMs;
    this.#lookMs = this.#heardMs;
    this.#arm();
  }

  heard(): void {
    this.#heardSince = true;
  }

  onSent(): void {
    this.#saidSince = true;
  }

  /** False while the link is not read: nothing can be heard then. */
  listening(on: boolean): void {
    this.#listening = on;
    this.#heardSince = true;
  }

  /** The peer says that it may be silent for so long; 0 takes it back, and so does anything that is heard later. */
  promise(silenceMs: number): void {
    this.#promisedMs = silenceMs;
    this.#promiseMs = this.#init.clock.nowMs();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    this.#timer = this.#init.clock.after(this.#init.leaseMs / 8, () => this.#check());
  }

  #note(now: number): void {
    const periodMs = this.#init.leaseMs / 8;
    const lateMs = now - this.#lookMs - periodMs;
    this.#lookMs = now;
    // A peer that is about to be stopped may still say a word or two after its promise.
    if (this.#heardSince && now - this.#promiseMs >= 2 * periodMs) this.#promisedMs = 0;
    if (this.#heardSince || !this.#listening) this.#heardMs = now;
    else if (lateMs > periodMs) this.#heardMs += lateMs;
    if (this.#saidSince) this.#saidMs = now;
    this.#heardSince = false;
    this.#saidSince = false;
  }

  /** Times are taken here and not for each message: exact to an eighth of the lease, always to the safe side. */
  #check(): void {
    const now = this.#init.clock.nowMs();
    this.#note(now);
    this.#arm();
    if (now - this.#saidMs >= this.#init.leaseMs / 8) this.#events.sayAlive();
    const silentMs = now - this.#heardMs - this.#promisedMs;
    const doubted = silentMs >= this.#init.leaseMs / 2;
    if (doubted !== this.#doubted) {
      this.#doubted = doubted;
      this.#events.doubt(doubted);
    }
    if (silentMs < (this.#init.leaseMs * 7) / 8) return;
    this.stop();
    this.#events.expire(silentMs);
  }
}
