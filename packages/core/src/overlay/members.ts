/** Agents that take part in a session, by position: 0 the controller, host + 1 its root agent. */

import {
  CONTROLLER, addressIndex, addressKind, bootHost, bootPosition, rootAddress, type Address, type MemberId,
  type Position,
} from '@stci/interface';

/** Position of the agent that acts for an address: of a session agent its root agent. */
export function positionOf(address: Address): Position | undefined {
  const kind = addressKind(address);
  if (kind === 'controller') return 0;
  return kind === 'root' || kind === 'session' ? bootPosition(addressIndex(address)) : undefined;
}

export function addressAt(position: Position): Address {
  return position === 0 ? CONTROLLER : rootAddress(bootHost(position));
}

export class Members {
  readonly #incarnations = new Map<Position, number>();

  constructor(members: readonly MemberId[]) {
    for (const { position, incarnation } of members) this.#incarnations.set(position, incarnation);
  }

  /** By position. */
  get all(): MemberId[] {
    return [...this.#incarnations]
      .map(([position, incarnation]) => ({ position, incarnation }))
      .sort((a, b) => a.position - b.position);
  }

  at(position: Position): MemberId | undefined {
    const incarnation = this.#incarnations.get(position);
    return incarnation === undefined ? undefined : { position, incarnation };
  }

  has({ position, incarnation }: MemberId): boolean {
    return this.#incarnations.get(position) === incarnation;
  }

  /** False: this incarnation, or a later one, is known. */
  join({ position, incarnation }: MemberId): boolean {
    if ((this.#incarnations.get(position) ?? -1) >= incarnation) return false;
    this.#incarnations.set(position, incarnation);
    return true;
  }

  /** False: it does not take part. */
  leave(member: MemberId): boolean {
    return this.has(member) && this.#incarnations.delete(member.position);
  }
}

/** `[position, count, incarnation]` of each run of positions with the same incarnation. */
export function runsOf(members: readonly MemberId[]): [number, number, number][] {
  const runs: [number, number, number][] = [];
  for (const { position, incarnation } of members) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] + last[1] === position && last[2] === incarnation) last[1] += 1;
    else runs.push([position, 1, incarnation]);
  }
  return runs;
}
