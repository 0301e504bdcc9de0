/** Why a collective failed, in words for people. */

import { rankRanges, entryOf, type CollectiveKind, type LostRanks, type Rank } from '@stci/interface';

/** How many ranks, or groups of them, a text names. */
const NAMED_MAX = 4;

/** What programs call. */
const FUNCTIONS: Readonly<Partial<Record<CollectiveKind, string>>> = { allgather: 'allGather', allreduce: 'allReduce' };

/** What programs call it. */
export function calledName(kind: CollectiveKind): string {
  return FUNCTIONS[kind] ?? kind;
}

/** `rank 5 on host b was ended by SIGKILL`. */
export function missingText(missing: readonly LostRanks[]): string {
  const named = missing.slice(0, NAMED_MAX).map(([rank, , reason, host]) => lossText(rank, reason, host));
  const more = missing.length - named.length;
  return `${named.join('; ')}${more > 0 ? `; and ${more} more ranks have ended` : ''}`;
}

export function lossText(rank: Rank, reason: string, host: string): string {
  const where = host === '' ? `rank ${rank}` : `rank ${rank} on host ${host}`;
  return reason.startsWith('it ') ? `${where} ${reason.slice(3)}` : `${where}: ${reason}`;
}

interface Call {
  readonly rank: Rank;
  readonly kind: CollectiveKind;
  readonly root: Rank;
}

/** `ranks 0-3 called barrier(), rank 4 gather() with root 2`. */
export function calledText(calls: readonly Call[]): string {
  const byCall = new Map<string, Rank[]>();
  for (const { rank, ...call } of calls) entryOf(byCall, callText(call), () => []).push(rank);
  const parts = [...byCall].map(([text, ranks]) => `${ranksText(ranks)} called ${text}`);
  return `${parts.join(', ')}. All ranks must call the same, in the same order`;
}

/** `gather() with root 2`. */
export function callText({ kind, root }: Omit<Call, 'rank'>): string {
  const hasRoot = kind === 'gather' || kind === 'broadcast' || kind === 'reduce';
  return `${calledName(kind)}()${hasRoot ? ` with root ${root}` : ''}`;
}

function ranksText(ranks: readonly Rank[]): string {
  const ranges = rankRanges(ranks);
  const named = ranges.slice(0, NAMED_MAX).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return `${ranks.length === 1 ? 'rank' : 'ranks'} ${named.join(', ')}${ranges.length > NAMED_MAX ? ', …' : ''}`;
}

/** Of a rank that was started again. */
export const NOT_YET = {
  code: 'STCI_CLIENT_MISMATCH', reason: 'this rank was started again; it takes part from its first shrink() on',
} as const;
