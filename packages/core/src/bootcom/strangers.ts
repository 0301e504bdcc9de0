/**
 * Strangers: links at a listener whose peers have not proved who they are, a bounded number of them. A peer that names
 * the session, which is told only to those that belong to it, goes after all that don't; and nobody goes in his first
 * moment, in which an honest peer names it, unless there are twice as many as may be.
 */

import { crowdVictim, type Clock, type CrowdMember, type Random, type Timer } from '@stci/interface';
import type { Link } from './link.js';

/** Time that nobody takes from a newcomer, in ms: some round trips of a cluster's network. */
const MOMENT_MS = 20;

interface Stranger extends CrowdMember {
  readonly link: Link;
  readonly sinceMs: number;
}

export class Strangers {
  readonly #max: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #byLink = new Map<Link, Stranger>();
  #timer: Timer | undefined;

  constructor(max: number, { clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#max = max;
    this.#clock = clock;
    this.#random = random;
  }

  get count(): number {
    return this.#byLink.size;
  }

  /** `label` is its channel's; may destroy a link. */
  add(link: Link, label: string): void {
    this.#byLink.set(link, {
      link,
      source: label.replace(/:\d+$/, ''),
      sinceMs: this.#clock.nowMs(),
      get progress() {
        return link.hasMet ? 1 : 0;
      },
    });
    if (this.#byLink.size > 2 * this.#max) this.#dropOne([...this.#byLink.values()]);
    else if (this.#byLink.size > this.#max) this.#cutSoon();
  }

  /** It has proved itself, or is gone. */
  delete(link: Link): void {
    this.#byLink.delete(link);
  }

  clear(reason: string): void {
    this.#timer?.cancel();
    for (const link of [...this.#byLink.keys()]) link.destroy(reason);
  }

  #cutSoon(): void {
    this.#timer ??= this.#clock.after(MOMENT_MS, () => {
      this.#timer = undefined;
      this.#cut();
    });
  }

  #cut(): void {
    const untilMs = this.#clock.nowMs() - MOMENT_MS;
    while (this.#byLink.size > this.#max) {
      const settled = [...this.#byLink.values()].filter(({ sinceMs }) => sinceMs <= untilMs);
      if (settled.length === 0) return this.#cutSoon();
      this.#dropOne(settled);
    }
  }

  #dropOne(candidates: readonly Stranger[]): void {
    const victim = crowdVictim(candidates, (below) => this.#random.integer(below));
    if (victim === undefined) return;
    this.delete(victim.link);
    victim.link.destroy(`more than ${this.#max} connections have not proved who they are (bootcom.pending.max)`);
  }
}
