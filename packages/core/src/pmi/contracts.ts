/**
 * What MPI libraries want of a launcher, whichever protocol they speak: which processes there are, keys that each puts,
 * collectives, names, and news of those that are lost. Processes are ranks of jobs; a library knows them by the name of
 * their set, from 0.
 */

import { assert, type HostIndex, type JobId, type Rank } from '@stci/interface';

/** The value is encoded as PMIx has it. */
export type Pair = readonly [key: string, value: Uint8Array];

/** Ranks of a job, first to last. */
export type Range = readonly [job: JobId, first: Rank, last: Rank];

/** Processes that were started together: those of a job, or of one spawn. A namespace of PMIx. */
export interface ProcessSet {
  /** Unguessable, and used once: Open MPI makes names of shared memory of it. */
  readonly nspace: string;
  readonly job: JobId;
  /** Process i is this job's rank `first` + i. */
  readonly first: Rank;
  readonly size: number;
  /** Slots of the session's hosts. */
  readonly universe: number;
  /** Which process spawned it. */
  readonly parent?: readonly [nspace: string, rank: number] | undefined;
  /** Ranks of the job by host, in the order of STCI_NODE. */
  readonly hosts: readonly (readonly [host: HostIndex, name: string, ranks: readonly (readonly [Rank, Rank])[]])[];
  /** First rank and size of each program. */
  readonly apps: readonly (readonly [first: Rank, size: number])[];
}

/** Called once: with what came of it, or why nothing did. */
export type Done<T> = (result: T | undefined, problem?: string) => void;

/** Ends a wait: what is waited for is not told any more. */
export type Cancel = () => void;

export const PMI1_FENCE = 'pmi1';

export type CollectiveKind = 'fence' | 'connect' | 'disconnect' | 'group' | 'ungroup';

/** Which collective: calls of one kind, by the same processes, and with the same name are counted. */
export interface CollectiveId {
  readonly kind: CollectiveKind;
  /** Of a group; of a fence of PMI-1, PMI1_FENCE; else empty. */
  readonly name: string;
  /** Ascending, none twice. */
  readonly members: readonly Range[];
  /** 1, 2, … */
  readonly sequence: number;
}

/** What a collective of several hosts has come to. */
export interface CollectiveResult {
  readonly id: CollectiveId;
  /** Why it failed; '' if it did not. */
  readonly problem: string;
  /** Of a group: a number that no other one of these processes has. */
  readonly context: number;
  readonly data: readonly (readonly [job: JobId, rank: Rank, pairs: readonly Pair[]])[];
  /** Of a connect: the sets of its members. */
  readonly sets: readonly ProcessSet[];
}

/** A library in a rank of this host, between its first request and its last. */
export interface PmiClient {
  readonly rank: Rank;
  /** Ranks of this job are lost, of which it was not told yet. */
  onLost(ranks: readonly Rank[]): void;
  /** Another process raises an event; `body` as its protocol has it. */
  onEvent(source: { readonly nspace: string; readonly rank: number }, status: number, body: Uint8Array): void;
}

/** Bounds of one rank at its agent: more ends its connection, or is refused. */
export const KEY_CHARS_MAX = 512;
export const KEYS_OF_RANK_MAX = 4096;
export const VALUE_BYTES_MAX = 0x10_0000;
/** All keys and values of a rank. */
export const RANK_BYTES_MAX = 4 * 0x10_0000;
assert(VALUE_BYTES_MAX <= RANK_BYTES_MAX, 'a rank has room for the longest value');

export function collectiveKey(id: CollectiveId): string {
  return `${id.sequence} ${seriesKey(id)}`;
}

/** Of collectives that are counted together. */
export function seriesKey({ kind, name, members }: Omit<CollectiveId, 'sequence'>): string {
  return `${kind} ${members.join(' ')} ${name}`;
}

/** Fences of all processes of a set by which each library of the protocol begins, at the least. */
const INIT_FENCES = { pmi1: 3, pmix: 2 } as const;

/** Whether MPI_Init waits in it: a library hangs or crashes there if one of the processes is gone. */
export function isOfInit({ kind, name, members, sequence }: CollectiveId, sets: Iterable<ProcessSet>): boolean {
  const [range, ...others] = members;
  const count = name === PMI1_FENCE ? INIT_FENCES.pmi1 : INIT_FENCES.pmix;
  if (kind !== 'fence' || sequence > count || range === undefined || others.length > 0) return false;
  const [job, first, last] = range;
  return [...sets].some((set) => set.job === job && set.first === first && set.size === last - first + 1);
}

/** Whether two fences of the same processes are of several libraries: neither will end. */
export function areMixed(a: Omit<CollectiveId, 'sequence'>, b: Omit<CollectiveId, 'sequence'>): boolean {
  return a.kind === 'fence' && a.name !== b.name && seriesKey({ ...a, name: b.name }) === seriesKey(b);
}

export function ranksOfRanges(ranges: readonly Range[], job: JobId): Rank[] {
  return ranges.flatMap(([of, first, last]) =>
    (of === job ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : []));
}

/** Ascending, joined, none twice. */
export function rangesOf(ranks: Iterable<readonly [JobId, Rank]>): Range[] {
  const sorted = [...ranks].sort(([jobA, a], [jobB, b]) => jobA - jobB || a - b);
  const ranges: [JobId, Rank, Rank][] = [];
  for (const [job, rank] of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && last[0] === job && rank <= last[2] + 1) last[2] = rank;
    else ranges.push([job, rank, rank]);
  }
  return ranges;
}

export function pairBytes([key, value]: Pair): number {
  return key.length + value.length;
}

export function hasMember(ranges: readonly Range[], job: JobId, rank: Rank): boolean {
  return ranges.some(([of, first, last]) => of === job && rank >= first && rank <= last);
}

/** Exit code of a job that was aborted with this, any integer: 8 bits, and never 0. */
export function abortCode(status: number): number {
  return (status & 0xff) || 1;
}
