/**
 * The agents that take part, as one detector knows them: the latest incarnation at each position, and whether it lives.
 * Detectors keep their own, since each learns of joins and losses at its own time.
 */

import type { DetectorEvent, MemberId, Position } from '@stci/interface';

export type MemberEvent = Extract<DetectorEvent, { type: 'joined' | 'gone' | 'refuted' }>;

interface Entry {
  member: MemberId;
  isAlive: boolean;
}

export class MemberTable {
  readonly #entries = new Map<Position, Entry>();
  #alive = 0;

  constructor(members: readonly MemberId[]) {
    for (const member of members) this.#join(member);
  }

  /** Number of those that live. */
  get alive(): number {
    return this.#alive;
  }

  /** The living member at this position. */
  at(position: Position): MemberId | undefined {
    const entry = this.#entries.get(position);
    return entry?.isAlive === true ? entry.member : undefined;
  }

  has(member: MemberId): boolean {
    return this.at(member.position)?.incarnation === member.incarnation;
  }

  /** It is dead, has left, or was replaced; one that is not known yet is not. */
  isGone({ position, incarnation }: MemberId): boolean {
    const entry = this.#entries.get(position);
    if (entry === undefined || entry.member.incarnation < incarnation) return false;
    return entry.member.incarnation > incarnation || !entry.isAlive;
  }

  /** Positions of all that ever took part, in the order in which they came. */
  positions(): Position[] {
    return [...this.#entries.keys()];
  }

  /** True if it was alive. */
  fail(member: MemberId): boolean {
    const entry = this.#entries.get(member.position);
    if (entry === undefined || entry.member.incarnation !== member.incarnation || !entry.isAlive) return false;
    entry.isAlive = false;
    this.#alive--;
    return true;
  }

  /** True if the event changed who lives. */
  on({ type, member }: MemberEvent): boolean {
    if (type === 'gone') return this.fail(member);
    return type === 'joined' ? this.#join(member) : this.#revive(member);
  }

  #join(member: MemberId): boolean {
    const entry = this.#entries.get(member.position);
    if (entry !== undefined && entry.member.incarnation >= member.incarnation) return false;
    if (entry?.isAlive !== true) this.#alive++;
    this.#entries.set(member.position, { member, isAlive: true });
    return true;
  }

  #revive(member: MemberId): boolean {
    const entry = this.#entries.get(member.position);
    if (entry === undefined || entry.isAlive || entry.member.incarnation !== member.incarnation) return false;
    entry.isAlive = true;
    this.#alive++;
    return true;
  }
}
