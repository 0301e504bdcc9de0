/**
 * What a program that uses a client library and the session agent of its host say to each other
 * (docs/client-protocol.md): records (program-records.ts) over the agent's private socket. The program's first record
 * is `hello`, the agent's `welcome` or `refused`.
 */

import { assert } from './errors.js';
import type { JobId, Rank } from './ids.js';

/** Version of this form of the protocol; the two ends must have the same. */
export const PROGRAM_PROTOCOL = 2;

/** Variables of a rank's environment: path of the socket, and what proves which rank connects. */
export const PROGRAM_SOCKET_VARIABLE = 'STCI_CLIENT_SOCKET';
export const PROGRAM_TOKEN_VARIABLE = 'STCI_CLIENT_TOKEN';

/** Longest line of a program and of the agent, in bytes. */
export const PROGRAM_LINE_BYTES_MAX = 4096;
export const AGENT_LINE_BYTES_MAX = 64 * 1024 * 1024;

/** Most bytes of one message between ranks. */
export const PROGRAM_MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Most bytes that one rank brings to a collective, or puts under one key; and of all ranks to one collective. */
export const PROGRAM_PART_BYTES_MAX = 1024 * 1024;
export const PROGRAM_PARTS_BYTES_MAX = 4 * 1024 * 1024;

/** Most keys of a job, and bytes that they and their values count for together; longest key, in characters. */
export const PROGRAM_KEYS_MAX = 65_536;
export const PROGRAM_KEYS_BYTES_MAX = 8 * 1024 * 1024;
export const PROGRAM_KEY_CHARS_MAX = 256;

/** Bytes that a key counts for besides its characters and its value: the overhead of keeping it. */
const PROGRAM_KEY_CHARGE = 64;
assert(PROGRAM_PARTS_BYTES_MAX / PROGRAM_KEY_CHARGE <= PROGRAM_KEYS_MAX, 'an exchange brings no more keys than may be');
assert(PROGRAM_KEYS_MAX * PROGRAM_KEY_CHARGE < PROGRAM_KEYS_BYTES_MAX, 'as many keys as may be have room for values');

/** Bytes that a key and its value count for. */
export function programKeyBytes(key: string, value: Uint8Array): number {
  return key.length + value.length + PROGRAM_KEY_CHARGE;
}

/** Most sends, and their bytes, that a program and its library may have unanswered; receives that may wait. */
export const PROGRAM_SENDS_MAX = 1024;
export const PROGRAM_SENDS_BYTES_MAX = 3 * PROGRAM_MESSAGE_BYTES_MAX;
export const PROGRAM_RECEIVES_MAX = 1024;

/** Longest tag, in characters; those that begin with `_` are the libraries' own. */
export const PROGRAM_TAG_CHARS_MAX = 64;
export const PROGRAM_TAG = 'default';

/** Longest promise of a sign of life, and longest wait for a message: a day. */
export const WATCHDOG_MS_MAX = 86_400_000;

/** Longest name of a mark, in characters; most marks of a process in a second, and in all. */
export const MARK_CHARS_MAX = 256;
export const MARKS_PER_SECOND_MAX = 100;
export const MARKS_MAX = 10_000;

/** Most ranks that a program says by name that it waits for outside of its library. */
export const PROGRAM_WAITS_MAX = 64;

/** Ranks from the first to the last, inclusive. */
export type RankRange = readonly [first: Rank, last: Rank];

/** Ranks that were lost together, why, for people, and on which host; '' if that is not known. */
export type LostRanks = readonly [first: Rank, last: Rank, reason: string, host: string];

/**
 * What ranks do together; the index is its number between agents. `agree` and `shrink` go on without ranks that are
 * lost. The others are strict: they fail when a rank of the group ended before it took part. `reduce` is a gather, and
 * `allreduce` a broadcast, of what the ranks have made of their values by messages.
 */
export const COLLECTIVES = [
  'agree', 'barrier', 'shrink', 'gather', 'allgather', 'broadcast', 'exchange', 'reduce', 'allreduce',
] as const;

export type CollectiveKind = (typeof COLLECTIVES)[number];

/** How the program that made some bytes encoded them. */
export const FORMS = ['bytes', 'json', 'text'] as const;
export type Form = (typeof FORMS)[number];

/** Errors of a call or a collective, as the agent tells them. */
export type ProgramErrorCode =
  | 'STCI_CLIENT_ARGUMENT' | 'STCI_CLIENT_RANK' | 'STCI_CLIENT_RANK_LOST' | 'STCI_CLIENT_RANK_ENDED'
  | 'STCI_CLIENT_MISMATCH' | 'STCI_CLIENT_LIMIT' | 'STCI_CLIENT_TIMEOUT' | 'STCI_CLIENT_CANCELLED'
  | 'STCI_CLIENT_DUPLICATE' | 'STCI_CLIENT_TOPOLOGY';

/** The result of a collective: the same for every rank that gets it. */
export interface Agreed {
  readonly kind: CollectiveKind;
  /** All flags were true. */
  readonly flag: boolean;
  /** The ranks called different things: a program error. */
  readonly isMismatch: boolean;
  /** Ranks that took part, and had not ended when it was decided. */
  readonly ranks: readonly RankRange[];
  /** Ranks among them that had been lost, and were started again; of a `shrink`. */
  readonly joined: readonly RankRange[];
  /** Ranks that are lost. */
  readonly failed: readonly RankRange[];
  /** Ranks for whose sake a strict one failed. */
  readonly missing: readonly LostRanks[];
}

/** What a rank brought to a collective. */
export type PartHead = readonly [rank: Rank, bytes: number, form: Form];

/** Chosen by the program, to find the answer by. */
interface Call {
  readonly id: number;
}

/** `bytes`: of what follows the line; absent: none. */
interface Carrier {
  readonly form: Form;
  readonly bytes?: number | undefined;
}

export type ProgramRequest =
  /** `only`: a connection beside the rank's own, which takes no part and may say `waiting` alone. */
  | { readonly type: 'hello'; readonly version: number; readonly token: string; readonly only?: 'waits' | undefined }
  /** Answered by `agreed`; another may follow only after that. */
  | ({ readonly type: 'vote'; readonly kind: CollectiveKind; readonly flag?: boolean | undefined;
      readonly root?: Rank | undefined } & Partial<Carrier>)
  /** Answered by `done` once the receiver's agent has it. */
  | ({ readonly type: 'send'; readonly to: Rank; readonly tag: string } & Call & Carrier)
  /** Answered by `message`; without `from` and `tag`, by any. */
  | ({ readonly type: 'receive'; readonly from?: Rank | undefined; readonly tag?: string | undefined;
      readonly waitMs?: number | undefined } & Call)
  /** Ends a `receive`, if it still waits. */
  | ({ readonly type: 'cancel' } & Call)
  | ({ readonly type: 'put'; readonly key: string } & Call & Carrier)
  | ({ readonly type: 'get'; readonly key: string } & Call)
  | ({ readonly type: 'hosts' } & Call)
  | ({ readonly type: 'topology'; readonly spec: string; readonly size: number; readonly position: number;
      readonly root?: number | undefined; readonly target?: number | undefined } & Call)
  /** A sign of life, and the promise of the next within this time; 0 takes the promise back. */
  | { readonly type: 'alive'; readonly withinMs: number }
  /** The program has come to a point that an experiment knows by this name. */
  | { readonly type: 'mark'; readonly name: string }
  /** For whom the program waits by other means from now on, as in MPI; without `ranks`: for all, or anybody. */
  | { readonly type: 'waiting'; readonly ranks?: readonly Rank[] | undefined };

export type ProgramEvent =
  /** `attempt`: 1, 2, …: how often the rank was started. */
  | { readonly type: 'welcome'; readonly rank: Rank; readonly size: number; readonly job: JobId;
      readonly attempt: number; readonly host: string }
  | { readonly type: 'failed'; readonly lost: readonly LostRanks[] }
  | { readonly type: 'ended'; readonly ranks: readonly RankRange[] }
  /**
   * `code` and `reason` are empty where it succeeded. `decided`: collectives of the job decided so far, this one
   * included; a refusal is no decision. The bytes of the parts follow, one after the other.
   */
  | { readonly type: 'agreed'; readonly code: ProgramErrorCode | ''; readonly reason: string; readonly decided: number;
      readonly agreed: Agreed; readonly parts: readonly PartHead[] }
  | ({ readonly type: 'done' } & Call)
  | ({ readonly type: 'failed-call'; readonly code: ProgramErrorCode; readonly reason: string } & Call)
  | ({ readonly type: 'message'; readonly from: Rank; readonly tag: string; readonly form: Form } & Call)
  | ({ readonly type: 'value'; readonly found: boolean; readonly form: Form } & Call)
  | ({ readonly type: 'hosts'; readonly hosts: readonly (readonly [name: string, ranks: readonly RankRange[]])[] }
      & Call)
  | ({ readonly type: 'topology'; readonly neighbours: readonly number[]; readonly parent: number;
      readonly children: readonly number[]; readonly diameter: number; readonly next?: number | undefined } & Call)
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
export function isInRanges(ranges: readonly (readonly [Rank, Rank, ...unknown[]])[], rank: Rank): boolean {
  return ranges.some(([first, last]) => first <= rank && rank <= last);
}
