/**
 * `--gather`: the output of each rank is shown at the end; ranks with equal output share one header with their folded
 * list. Equal means equal bytes; the collector compares digests and lengths, so output need not be in memory.
 */

import { entryOf } from '@stci/interface';
import { foldRanks } from './fold.js';

export interface Gathered {
  readonly rank: number;
  readonly bytes: number;
  /** Equal digest, equal bytes. */
  readonly digest: string;
}

export interface GatherGroup {
  /** Ascending. */
  readonly ranks: readonly number[];
  readonly bytes: number;
}

/** Groups in the order of their lowest rank; ranks without output are left out. */
export function groupOutput(outputs: readonly Gathered[]): readonly GatherGroup[] {
  const groups = new Map<string, { ranks: number[]; bytes: number }>();
  for (const { rank, bytes, digest } of [...outputs].sort((a, b) => a.rank - b.rank)) {
    if (bytes > 0) entryOf(groups, digest, () => ({ ranks: [], bytes })).ranks.push(rank);
  }
  return [...groups.values()];
}

const RULE = '-'.repeat(16);

/** Three lines: a rule, the ranks (and `hosts`, where the job has several), a rule. */
export function gatherHeader(group: GatherGroup, stream: string, hosts = ''): string {
  const word = group.ranks.length === 1 ? 'rank' : 'ranks';
  const count = group.ranks.length === 1 ? '' : ` (${group.ranks.length})`;
  const of = stream === 'stdout' ? '' : ` ${stream}`;
  const on = hosts === '' ? '' : ` on ${hosts}`;
  return `${RULE}\n${word} ${foldRanks(group.ranks)}${count}${of}${on}\n${RULE}\n`;
}
