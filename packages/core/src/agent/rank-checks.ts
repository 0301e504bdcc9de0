/** Checks that an agent speaks of the ranks of its own host only: in its reports, and in the output that it sends. */

import { StciError, addressIndex, type HostIndex, type JobMap, type Rank } from '@stci/interface';
import type { StreamCheck } from '../am/stream-endpoint.js';
import { bytes, integer, tuple, u32, wallTime } from '../codec/shape.js';
import type { PlacementLookup } from '../job/placement.js';

/** Throws STCI_MESSAGE_INVALID where one of `ranks` is not of this host. */
export function checkRanks(lookup: PlacementLookup, map: JobMap, host: HostIndex, ranks: Iterable<Rank>): void {
  for (const rank of ranks) {
    if (rank < map.size && lookup.host(rank) === host) continue;
    throw new StciError('STCI_MESSAGE_INVALID', `Expected ranks of host ${host}, got rank ${rank}`);
  }
}

/** What a chunk of output looks like: `[rank, 1 or 2, time, bytes]`; an empty chunk ends its stream. */
const chunkShape = tuple(u32, integer(1, 2), wallTime, bytes);

/** Check of a mapped job's output: it is of ranks of the host that sends it. */
export function outputCheck(lookup: PlacementLookup, map: JobMap): StreamCheck {
  return (data, source) => {
    const [rank] = chunkShape(data, 'output');
    checkRanks(lookup, map, addressIndex(source), [rank]);
  };
}
