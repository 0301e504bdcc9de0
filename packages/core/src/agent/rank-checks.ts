/** Checks that an agent's reports and output are of ranks of its own host only. */

import { StciError, addressIndex, type HostIndex, type JobMap, type Rank } from '@stci/interface';
import type { StreamCheck } from '../am/stream-endpoint.js';
import { chunk } from '../codec/bounds.js';
import { integer, tuple, u32, wallTime } from '../codec/shape.js';
import type { PlacementLookup } from '../job/placement.js';

/** Throws STCI_MESSAGE_INVALID if one of `ranks` is not of this host. */
export function checkRanks(lookup: PlacementLookup, map: JobMap, host: HostIndex, ranks: Iterable<Rank>): void {
  for (const rank of ranks) {
    if (rank < map.size && lookup.host(rank) === host) continue;
    throw new StciError('STCI_MESSAGE_INVALID', `Expected ranks of host ${host}, got rank ${rank}`);
  }
}

/** Shape of a chunk of output: `[rank, 1 or 2, time, bytes]`; an empty chunk ends its stream. */
const chunkShape = tuple(u32, integer(1, 2), wallTime, chunk);

/** Makes a check of a mapped job's output: its ranks must be of the host that sends it. They may move. */
export function outputCheck(places: { readonly lookup: PlacementLookup; readonly map: JobMap }): StreamCheck {
  return (data, source) => {
    const [rank] = chunkShape(data, 'output');
    checkRanks(places.lookup, places.map, addressIndex(source), [rank]);
  };
}
