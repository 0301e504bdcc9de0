/**
 * Pending links: a bounded set of links at a listener whose peers are not authenticated yet. Peers that have not named
 * the session are evicted first. New connections are exempt for 250 ms, in which an honest peer names the session even
 * on a busy host; up to twice the limit, at which one of all is evicted.
 */

import type { Clock, EvictionCandidate, Random, Timer } from '@stci/interface';
import { selectEviction } from './eviction.js';
import type { Link } from './link.js';

/** How long a new connection is exempt from eviction, ms: some waits of a busy host for a CPU. */
const EXEMPT_MS = 250;
/** How long it may stay then, ms. */
const CUT_MS = 20;

/** Or another connection whose peer has to say who it is. */
export type Pending = Pick<Link, 'isIntroduced' | 'destroy'>;

interface PendingLink extends EvictionCandidate {
  readonly link: Pending;
}

export class PendingLinks {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byLink = new Map<Pending, PendingLink>();
  #timer: Timer | undefined;

  constructor(max: number, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#max = max;
    this.#clock = clock;
    this.#random = random;
  }

  get count(): number {
    return this.#byLink.size;
  }

  /** Adds a link, which may cause an eviction. `label` is that of the link's channel. */
  add(link: Pending, label: string): void {
    this.#byLink.set(link, {
      link,
      source: label.replace(/:\d+$/, ''),
      sinceMs: this.#clock.nowMs(),
      get progress() {
        return link.isIntroduced ? 1 : 0;
      },
    });
    if (this.#byLink.size > 2 * this.#max) this.#evict();
    else if (this.#byLink.size > this.#max) this.#evictSoon();
  }

  /** Forgets a link: to be called when it is authenticated or closed. */
  delete(link: Pending): void {
    this.#byLink.delete(link);
  }

  clear(reason: string): void {
    this.#timer?.cancel();
    for (const link of [...this.#byLink.keys()]) link.destroy(reason);
  }

  #evictSoon(): void {
    this.#timer ??= this.#clock.after(CUT_MS, () => {
      // What has arrived is read first: it counts as progress.
      this.#clock.soon(() => {
        this.#timer = undefined;
        this.#cut();
      });
    });
  }

  #cut(): void {
    const untilMs = this.#clock.nowMs() - EXEMPT_MS;
    while (this.#byLink.size > this.#max) if (!this.#evict(untilMs)) return this.#evictSoon();
  }

  /** False if those that would have to go are too new. */
  #evict(exemptMs?: number): boolean {
    const victim = selectEviction(this.#byLink.values(), (below) => this.#random.integer(below), exemptMs);
    if (victim === undefined) return false;
    this.delete(victim.link);
    victim.link.destroy(`more than ${this.#max} connections are not authenticated (bootcom.pending.max)`);
    return true;
  }
}
