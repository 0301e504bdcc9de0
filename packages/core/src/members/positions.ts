/** Positions of agents: 0 the controller, host + 1 its root agent, as in the boot tree; their addresses, and runs. */

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

export function membersOf(runs: readonly (readonly [number, number, number])[]): MemberId[] {
  return runs.flatMap(([first, count, incarnation]) =>
    Array.from({ length: count }, (_, i) => ({ position: first + i, incarnation })));
}
