/** Checks that what an agent tells is of ranks of its own host. */

import { StciError, type HostIndex, type JobMap, type Rank } from '@stci/interface';
import type { PlacementLookup } from './placement.js';

/** Throws STCI_MESSAGE_INVALID if one of `ranks` is not of this host. */
export function checkRanks(
  lookup: PlacementLookup, map: Pick<JobMap, 'size'>, host: HostIndex, ranks: Iterable<Rank>,
): void {
  for (const rank of ranks) {
    if (rank < map.size && lookup.host(rank) === host) continue;
    throw new StciError('STCI_MESSAGE_INVALID', `Expected ranks of host ${host}, got rank ${rank}`);
  }
}
