/**
 * Lease of a link: a cut cable gives no end of file, only silence does. Each end sends something every quarter of the
 * lease at least, and anything counts; after half of the lease in silence the peer is suspect, after all of it the link
 * is lost, neither earlier nor, while this process runs freely, later. One timer a link; a message costs one reading
 * of the clock for each chunk that arrives and a flag for each one sent.
 *
 * Only time in which this end could hear counts: not while its process was stopped, or so busy that its timers came
 * late, nor while it did not read.
 */

import type { Clock, Timer } from '@stci/interface';

/** Shortest wait, ms: sums of fractions may fall short of a due time by less, and a wait of nothing would not end. */
const WAIT_MIN_MS = 0.01;

export interface LeaseInit {
  readonly clock: Clock;
  /** At least 8 ms. */
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
  /** Between two checks; twice as long is the quarter of the lease in which something is sent. */
  readonly #periodMs: number;
  #heardMs: number;
  /** Silence that the peer has announced, beyond the lease. */
  #announcedMs = 0;
  #announcementMs = 0;
  /** When the next check is due, and when the one is in which something must have been sent. */
  #checkMs: number;
  #sayMs: number;
  #isListening = true;
  #hasSent = false;
  #isDoubted = false;
  #isStopped = false;
  #timer: Timer | undefined;

  constructor(init: LeaseInit, events: LeaseEvents) {
    this.#init = init;
    this.#events = events;
    this.#periodMs = init.leaseMs / 8;
    this.#heardMs = init.clock.nowMs();
    this.#checkMs = this.#heardMs;
    this.#sayMs = this.#heardMs + this.#periodMs;
    this.#arm(this.#heardMs);
  }

  heard(): void {
    this.#heardMs = this.#init.clock.nowMs();
    // A peer that is about to be stopped may still send a little after it has announced its silence.
    if (this.#heardMs - this.#announcementMs >= 2 * this.#periodMs) this.#announcedMs = 0;
  }

  onSent(): void {
    this.#hasSent = true;
  }

  /** False while the link is not read: nothing can be heard then. */
  listening(on: boolean): void {
    this.#isListening = on;
    this.heard();
  }

  /** The peer says that it may be silent for so long; 0 takes it back, and so does anything that is heard later. */
  announce(silenceMs: number): void {
    this.#announcedMs = silenceMs;
    this.#announcementMs = this.#init.clock.nowMs();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** At the next of: something may have to be sent, the peer is suspect, the link is lost. */
  #arm(nowMs: number): void {
    const { clock, leaseMs } = this.#init;
    const silentMs = this.#silentMs(nowMs);
    let waitMs = this.#sayMs - nowMs;
    for (const limitMs of [leaseMs / 2, leaseMs]) {
      if (silentMs < limitMs) waitMs = Math.min(waitMs, limitMs - silentMs);
    }
    waitMs = Math.max(waitMs, WAIT_MIN_MS);
    this.#checkMs = nowMs + waitMs;
    this.#timer = clock.after(waitMs, () => this.#check());
  }

  #silentMs(nowMs: number): number {
    return nowMs - this.#heardMs - this.#announcedMs;
  }

  #check(): void {
    const nowMs = this.#init.clock.nowMs();
    const lateMs = nowMs - this.#checkMs;
    if (!this.#isListening) this.#heardMs = nowMs;
    else if (lateMs > this.#periodMs) this.#heardMs = Math.min(nowMs, this.#heardMs + lateMs);
    if (nowMs >= this.#sayMs) {
      if (!this.#hasSent) this.#events.sayAlive();
      this.#hasSent = false;
      this.#sayMs = nowMs + this.#periodMs;
    }
    const silentMs = this.#silentMs(nowMs);
    const doubted = silentMs >= this.#init.leaseMs / 2;
    if (doubted !== this.#isDoubted) {
      this.#isDoubted = doubted;
      this.#events.doubt(doubted);
    }
    if (silentMs >= this.#init.leaseMs) this.#takeLastTurn();
    else this.#arm(nowMs);
  }

  /** What has arrived by now, and is yet to be read, still counts. */
  #takeLastTurn(): void {
    const { clock, leaseMs } = this.#init;
    this.#timer = undefined;
    clock.soon(() => {
      if (this.#isStopped) return;
      const nowMs = clock.nowMs();
      const silentMs = this.#silentMs(nowMs);
      if (silentMs < leaseMs) return this.#arm(nowMs);
      this.stop();
      this.#events.expire(silentMs);
    });
  }
}
