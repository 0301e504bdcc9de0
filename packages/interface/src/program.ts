/**
 * What a program that uses the client library and the session agent of its host say to each other: one JSON object a
 * line, over the agent's private socket. The program's first line is `hello`, the agent's `welcome` or `refused`.
 */

import type { JobId, Rank } from './ids.js';

/** Of this form of the protocol; the two ends must have the same. */
export const PROGRAM_PROTOCOL = 1;

/** In the environment of a rank: path of the socket, and what proves which rank connects. */
export const PROGRAM_SOCKET_VARIABLE = 'STCI_CLIENT_SOCKET';
export const PROGRAM_TOKEN_VARIABLE = 'STCI_CLIENT_TOKEN';

/** Longest line of a program, in bytes. */
export const PROGRAM_LINE_BYTES_MAX = 1024;

/** Longest promise of a sign of life: a day. */
export const WATCHDOG_MS_MAX = 86_400_000;

/** Longest name of a mark, in characters; most marks of a process in a second, and in all. */
export const MARK_CHARS_MAX = 256;
export const MARKS_PER_SECOND_MAX = 100;
export const MARKS_MAX = 10_000;

/** Ranks from the first to the last, inclusive. */
export type RankRange = readonly [first: Rank, last: Rank];

/** Ranks that were lost together, and why, for people. */
export type LostRanks = readonly [first: Rank, last: Rank, reason: string];

/** All three are one agreement: of flags, of nothing, of who is left. */
export type AgreementKind = 'agree' | 'barrier' | 'shrink';

export const AGREEMENT_KINDS: readonly AgreementKind[] = ['agree', 'barrier', 'shrink'];

/** The result of an agreement: the same for every rank that gets it. */
export interface Agreed {
  /** All flags were true. */
  readonly flag: boolean;
  /** Its ranks called different things: a program error. */
  readonly isMismatch: boolean;
  /** Those that took part, and had not ended when it was decided. */
  readonly ranks: readonly RankRange[];
  /** Those of them that had been lost, and were started again; of a `shrink`. */
  readonly joined: readonly RankRange[];
  /** Those that are lost. */
  readonly failed: readonly RankRange[];
}

export type ProgramRequest =
  | { readonly type: 'hello'; readonly version: number; readonly token: string }
  /** Answered by `agreed`; another may follow only after that. */
  | { readonly type: 'vote'; readonly kind: AgreementKind; readonly flag: boolean }
  /** A sign of life, and the promise of the next within this time; 0 takes the promise back. */
  | { readonly type: 'alive'; readonly withinMs: number }
  /** The program has come to a point that an experiment knows by this name. */
  | { readonly type: 'mark'; readonly name: string };

export type ProgramEvent =
  /** `attempt`: 1, 2, …: how often the rank was started. */
  | { readonly type: 'welcome'; readonly rank: Rank; readonly size: number; readonly job: JobId;
      readonly attempt: number }
  | { readonly type: 'failed'; readonly lost: readonly LostRanks[] }
  | { readonly type: 'agreed'; readonly agreed: Agreed }
  /** An injected fault: the program ends itself with this status. */
  | { readonly type: 'exit'; readonly status: number }
  /** The connection is closed after it. */
  | { readonly type: 'refused'; readonly reason: string };

/** Ranks in ascending order as ranges. */
export function rankRanges(ranks: Iterable<Rank>): RankRange[] {
  const ranges: [Rank, Rank][] = [];
  for (const rank of ranks) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === rank - 1) last[1] = rank;
    else ranges.push([rank, rank]);
  }
  return ranges;
}

/** The ranks of ranges, in their order. */
export function ranksInRanges(ranges: readonly (readonly [Rank, Rank, ...unknown[]])[]): Rank[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

/** Whether one of the ranges holds the rank. */
export function isInRanges(ranges: readonly RankRange[], rank: Rank): boolean {
  return ranges.some(([first, last]) => first <= rank && rank <= last);
}
