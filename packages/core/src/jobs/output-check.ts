/** Checks of a job's output. */

import { addressIndex, type JobMap } from '@stci/interface';
import { chunk } from '../codec/bounds.js';
import { check, integer, tuple, u32, wallTime } from '../codec/shape.js';
import type { PlacementLookup } from '../job/placement.js';
import { checkRanks } from '../job/rank-checks.js';
import type { StreamCheck } from '../streams/stream-endpoint.js';

/** Shape of a chunk of output: `[rank, 1 or 2, time, bytes]`; an empty chunk ends its stream. */
const chunkShape = tuple(u32, integer(1, 2), wallTime, chunk);

/** Makes a check of a mapped job's output: its ranks must be of the host that sends it. They may move. */
export function outputCheck(places: { readonly lookup: PlacementLookup; readonly map: JobMap }): StreamCheck {
  return (data, source) => {
    const [rank] = check(chunkShape, data, 'output');
    checkRanks(places.lookup, places.map, addressIndex(source), [rank]);
  };
}
