/**
 * Lease of a link: a cut cable causes no end of file, only silence. Each end sends at least once every quarter of the
 * lease, data or a keepalive, also within a turn that is longer. After half of the lease in silence the peer is
 * suspect; after all of it the link is lost, never earlier, and not later while this process runs freely. One timer per
 * link; a message costs a clock reading for each chunk received and for each one sent.
 *
 * Only time in which this end could receive counts: not while its process was stopped, or so busy that its timers were
 * late, nor while it did not read.
 */

import type { Clock, Timer } from '@stci/interface';

/** Shortest wait, ms: sums of fractions may fall short of a due time by less, and a wait of 0 would repeat for ever. */
const WAIT_MIN_MS = 0.01;

export interface LeaseInit {
  readonly clock: Clock;
  /** At least 8 ms. */
  readonly leaseMs: number;
}

export interface LeaseEvents {
  sendKeepalive(): void;
  suspect(isSuspect: boolean): void;
  /** Called once. */
  expire(silentMs: number): void;
}

export class Lease {
  readonly #init: LeaseInit;
  readonly #events: LeaseEvents;
  /** Longest time without sending. */
  readonly #quietMs: number;
  /**
   * Keepalives leave at multiples of this, so that those of all links of a process share wake-ups. A check that is
   * later than this shows that the process did not run.
   */
  readonly #stepMs: number;
  #heardMs: number;
  /** Silence that the peer has announced, beyond the lease. */
  #announcedMs = 0;
  #announcementMs = 0;
  #sentMs: number;
  /** Time of the next check. */
  #checkMs: number;
  #isListening = true;
  #isSuspect = false;
  #isStopped = false;
  #timer: Timer | undefined;

  constructor(init: LeaseInit, events: LeaseEvents) {
    this.#init = init;
    this.#events = events;
    this.#quietMs = init.leaseMs / 4;
    this.#stepMs = init.leaseMs / 8;
    this.#heardMs = init.clock.nowMs();
    this.#sentMs = this.#heardMs;
    this.#checkMs = this.#heardMs;
    this.#arm(this.#heardMs);
  }

  heard(): void {
    this.#heardMs = this.#init.clock.nowMs();
    // A peer that is about to be stopped may still send a little after announcing its silence.
    if (this.#heardMs - this.#announcementMs >= this.#quietMs) this.#announcedMs = 0;
  }

  onSent(): void {
    this.#sentMs = this.#init.clock.nowMs();
  }

  /** False while the link is not read: nothing can be received then. */
  listening(on: boolean): void {
    this.#isListening = on;
    this.heard();
  }

  /** The peer announces that it may be silent for this long; 0, or anything received later, cancels it. */
  announce(silenceMs: number): void {
    this.#announcedMs = silenceMs;
    this.#announcementMs = this.#init.clock.nowMs();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Waits for the earliest of: a keepalive may be due, the peer becomes suspect, the link is lost. */
  #arm(nowMs: number): void {
    const { clock, leaseMs } = this.#init;
    const silentMs = this.#silentMs(nowMs);
    let waitMs = this.#dueMs - nowMs;
    for (const limitMs of [leaseMs / 2, leaseMs]) {
      if (silentMs < limitMs) waitMs = Math.min(waitMs, limitMs - silentMs);
    }
    waitMs = Math.max(waitMs, WAIT_MIN_MS);
    this.#checkMs = nowMs + waitMs;
    this.#timer = clock.after(waitMs, () => this.#check(), () => this.#keepAlive());
  }

  /** When something must have been sent. */
  get #dueMs(): number {
    return Math.floor((this.#sentMs + this.#quietMs) / this.#stepMs) * this.#stepMs;
  }

  #silentMs(nowMs: number): number {
    return nowMs - this.#heardMs - this.#announcedMs;
  }

  #check(): void {
    const nowMs = this.#init.clock.nowMs();
    const lateMs = nowMs - this.#checkMs;
    if (!this.#isListening) this.#heardMs = nowMs;
    else if (lateMs > this.#stepMs) this.#heardMs = Math.min(nowMs, this.#heardMs + lateMs);
    this.#keepAlive();
    const silentMs = this.#silentMs(nowMs);
    const isSuspect = silentMs >= this.#init.leaseMs / 2;
    if (isSuspect !== this.#isSuspect) {
      this.#isSuspect = isSuspect;
      this.#events.suspect(isSuspect);
    }
    if (silentMs >= this.#init.leaseMs) this.#expireAfterInput();
    else this.#arm(nowMs);
  }

  #keepAlive(): void {
    if (this.#init.clock.nowMs() < this.#dueMs) return;
    this.#events.sendKeepalive();
    this.onSent();
  }

  /** Data that has arrived but is not read yet still counts. */
  #expireAfterInput(): void {
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
