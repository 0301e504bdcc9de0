/** Ranks folded for messages: `0-3,7,9-12`. */

import { rankRanges } from '@stci/interface';

/** `ranks` in any order; duplicates are shown once. */
export function foldRanks(ranks: readonly number[]): string {
  const ranges = rankRanges([...new Set(ranks)].sort((a, b) => a - b));
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
