/**
 * Strangers: links at a listener whose peers have not proved who they are, a bounded number of them. A peer that names
 * the session, which is told only to those that belong to it, goes after all that don't.
 */

import { crowdVictim, type CrowdMember, type Random } from '@stci/interface';
import type { Link } from './link.js';

interface Stranger extends CrowdMember {
  readonly link: Link;
}

export class Strangers {
  readonly #max: number;
  readonly #random: Random;
  readonly #byLink = new Map<Link, Stranger>();

  constructor(max: number, random: Random) {
    this.#max = max;
    this.#random = random;
  }

  get count(): number {
    return this.#byLink.size;
  }

  /** `label` is its channel's; may destroy a link, this one too. */
  add(link: Link, label: string): void {
    this.#byLink.set(link, {
      link,
      source: label.replace(/:\d+$/, ''),
      get progress() {
        return link.hasMet ? 1 : 0;
      },
    });
    if (this.#byLink.size <= this.#max) return;
    const victim = crowdVictim(this.#byLink.values(), (below) => this.#random.integer(below));
    if (victim === undefined) return;
    this.delete(victim.link);
    victim.link.destroy(`more than ${this.#max} connections have not proved who they are (bootcom.pending.max)`);
  }

  /** It has proved itself, or is gone. */
  delete(link: Link): void {
    this.#byLink.delete(link);
  }

  clear(reason: string): void {
    for (const link of [...this.#byLink.keys()]) link.destroy(reason);
  }
}
