/**
 * Members of a session as one agent knows them: who takes part, at which incarnation, and who is dead or has left. Each
 * agent has one view. The failure watch writes there what it is told; detectors, notifiers and the overlay read it, and
 * hear of each change. What the controller decides, and why, is in its table of hosts (membership/).
 */

import type { MemberId, Members, Position } from '@stci/interface';

/**
 * `refuted`: it was reported, and lives; `reported`: somebody says that it is dead; `gone`: it is dead or has left, as
 * the controller has decided.
 */
export type MemberState = 'alive' | 'refuted' | 'reported' | 'gone';

export interface MemberChange {
  readonly member: MemberId;
  readonly state: MemberState;
  /** Of the incarnation that was known at its position. */
  readonly before: MemberState | undefined;
}

export function isLiving(state: MemberState | 'replaced' | undefined): boolean {
  return state === 'alive' || state === 'refuted';
}

export class MemberView implements Members {
  readonly self: MemberId;
  /** The latest incarnation at each position. */
  readonly #latest = new Map<Position, MemberId>();
  /** Of those of whom more was told than that they take part. */
  readonly #states = new Map<Position, MemberState>();
  readonly #absent = new Set<Position>();
  readonly #observers: ((change: MemberChange) => void)[] = [];
  #size = 0;

  constructor(self: MemberId, members: readonly MemberId[] = []) {
    this.self = self;
    for (const member of [...members, self]) this.join(member);
  }

  get size(): number {
    return this.#size;
  }

  get absent(): ReadonlySet<Position> {
    return this.#absent;
  }

  get alive(): number {
    return this.#size - this.#absent.size;
  }

  living(): MemberId[] {
    return [...this.#latest.values()].filter(({ position }) => !this.isLost(position))
      .sort((a, b) => a.position - b.position);
  }

  at(position: Position): MemberId | undefined {
    return this.isLost(position) ? undefined : this.#latest.get(position);
  }

  has(member: MemberId): boolean {
    return isLiving(this.stateOf(member));
  }

  isGone(member: MemberId): boolean {
    const state = this.stateOf(member);
    return state !== undefined && !isLiving(state);
  }

  /** `replaced`: by a later incarnation; undefined: nobody has told of this one. */
  stateOf({ position, incarnation }: MemberId): MemberState | 'replaced' | undefined {
    const latest = this.#latest.get(position);
    if (latest === undefined || latest.incarnation < incarnation) return undefined;
    return latest.incarnation > incarnation ? 'replaced' : this.#states.get(position) ?? 'alive';
  }

  /** Whoever was there last is dead, or has left, as far as is known. */
  isLost(position: Position): boolean {
    const state = this.#states.get(position);
    return state !== undefined && !isLiving(state);
  }

  /** Is called after each change, those who began to observe first before others. */
  observe(observer: (change: MemberChange) => void): void {
    this.#observers.push(observer);
  }

  /** Another incarnation takes part. False: this one, or a later one, is known. */
  join(member: MemberId): boolean {
    return this.stateOf(member) === undefined && this.#put(member, 'alive');
  }

  /** Never this agent itself. False: it is known, or a later incarnation is there. */
  lose(member: MemberId, state: 'reported' | 'gone'): boolean {
    const before = this.stateOf(member);
    const isKnown = before === 'gone' || before === 'replaced' || before === state;
    return !isKnown && member.position !== this.self.position && this.#put(member, state);
  }

  /** It lives: that is told in any case. False: another incarnation is known. */
  refute(member: MemberId): boolean {
    const isLatest = this.#latest.get(member.position)?.incarnation === member.incarnation;
    return isLatest && this.#put(member, 'refuted');
  }

  #put(member: MemberId, state: MemberState): true {
    const { position } = member;
    const before = this.#latest.has(position) ? this.#states.get(position) ?? 'alive' : undefined;
    this.#latest.set(position, member);
    if (state === 'alive') this.#states.delete(position);
    else this.#states.set(position, state);
    if (isLiving(state)) {
      for (; this.#size <= position; this.#size++) this.#absent.add(this.#size);
      this.#absent.delete(position);
    } else if (position < this.#size) this.#absent.add(position);
    for (const observer of this.#observers) observer({ member, state, before });
    return true;
  }
}
