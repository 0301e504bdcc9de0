/**
 * Rumours that ride on SWIM's messages (Das, Gupta, Motivala: SWIM, 4.1): each is sent on a bounded number of times,
 * the least sent first, so that it reaches all with high probability and is then forgotten.
 */

import type { MemberId, Position } from '@stci/interface';

/** Rumour that a member is suspected, or lives: the higher number of lives stands, at the same the suspicion. */
export interface Rumour {
  readonly member: MemberId;
  readonly isSuspect: boolean;
  readonly lives: number;
  /** Who says so first. */
  readonly by: Position;
}

/** Bound on rumours of one message. */
export const RUMOURS_MAX = 8;
/** memberlist's RetransmitMult. */
const SENDS_FACTOR = 4;

export class Gossip {
  readonly #rumours = new Map<number, { rumour: Rumour; sends: number }>();

  /** Adds a rumour in place of what was said about this member before. */
  add(rumour: Rumour): void {
    this.#rumours.set(rumour.member.position, { rumour, sends: 0 });
  }

  remove({ position }: MemberId): void {
    this.#rumours.delete(position);
  }

  /** Takes rumours for the next message of an agent among so many. */
  take(members: number): Rumour[] {
    if (this.#rumours.size === 0) return [];
    const sendsMax = SENDS_FACTOR * Math.ceil(Math.log2(members + 1));
    const chosen = [...this.#rumours.values()].sort((a, b) => a.sends - b.sends).slice(0, RUMOURS_MAX);
    for (const entry of chosen) {
      entry.sends++;
      if (entry.sends >= sendsMax) this.#rumours.delete(entry.rumour.member.position);
    }
    return chosen.map(({ rumour }) => rumour);
  }
}
