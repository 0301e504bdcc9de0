/**
 * Pending links: a bounded set of links at a listener whose peers are not authenticated yet. Peers that have not named
 * the session, which only its members know, are evicted first. New connections are exempt from eviction for 20 ms, in
 * which an honest peer names the session, up to twice the limit.
 */

import type { Clock, EvictionCandidate, Random, Timer } from '@stci/interface';
import { selectEviction } from './eviction.js';
import type { Link } from './link.js';

/** How long a new connection is exempt from eviction, ms: some round trips of a cluster's network. */
const EXEMPT_MS = 20;

interface PendingLink extends EvictionCandidate {
  readonly link: Link;
  readonly sinceMs: number;
}

export class PendingLinks {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byLink = new Map<Link, PendingLink>();
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
  add(link: Link, label: string): void {
    this.#byLink.set(link, {
      link,
      source: label.replace(/:\d+$/, ''),
      sinceMs: this.#clock.nowMs(),
      get progress() {
        return link.isIntroduced ? 1 : 0;
      },
    });
    if (this.#byLink.size > 2 * this.#max) this.#evict([...this.#byLink.values()]);
    else if (this.#byLink.size > this.#max) this.#evictSoon();
  }

  /** To be called when the link is authenticated or closed. */
  delete(link: Link): void {
    this.#byLink.delete(link);
  }

  clear(reason: string): void {
    this.#timer?.cancel();
    for (const link of [...this.#byLink.keys()]) link.destroy(reason);
  }

  #evictSoon(): void {
    this.#timer ??= this.#clock.after(EXEMPT_MS, () => {
      this.#timer = undefined;
      this.#cut();
    });
  }

  #cut(): void {
    const untilMs = this.#clock.nowMs() - EXEMPT_MS;
    while (this.#byLink.size > this.#max) {
      const settled = [...this.#byLink.values()].filter(({ sinceMs }) => sinceMs <= untilMs);
      if (settled.length === 0) return this.#evictSoon();
      this.#evict(settled);
    }
  }

  #evict(candidates: readonly PendingLink[]): void {
    const victim = selectEviction(candidates, (below) => this.#random.integer(below));
    if (victim === undefined) return;
    this.delete(victim.link);
    victim.link.destroy(`more than ${this.#max} connections are not authenticated (bootcom.pending.max)`);
  }
}
