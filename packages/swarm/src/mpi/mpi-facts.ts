/** What simulated MPI programs did and saw, as they know it; checkers compare it over all ranks. */

import type { SimProcess } from '@stci/platform-sim';

export type MpiFact =
  | { readonly kind: 'init'; readonly size: number }
  /** A collective, by what all of its members call it; left with success, or not. */
  | { readonly kind: 'enter'; readonly name: string; readonly members: readonly number[] }
  /** `context`: of a group. */
  | { readonly kind: 'left'; readonly name: string; readonly isWell: boolean; readonly context?: bigint }
  | { readonly kind: 'got' | 'found'; readonly of: number; readonly value: string | undefined }
  | { readonly kind: 'published'; readonly isWell: boolean }
  /** A rank is told to be lost. */
  | { readonly kind: 'lost'; readonly rank: number }
  /** It has said that its job is to end, with this code. */
  | { readonly kind: 'aborts'; readonly code: number }
  /** It says so to its agent, and was answered. */
  | { readonly kind: 'finalizes' | 'finalized' }
  /** What it got makes no sense, or its connection was closed. */
  | { readonly kind: 'fault'; readonly text: string };

const FACTS = new WeakMap<SimProcess, (MpiFact & { readonly atMs: number })[]>();

export type TimedFact = MpiFact & { readonly atMs: number };

export function noteFact(process: SimProcess, atMs: number, fact: MpiFact): void {
  const facts = FACTS.get(process);
  if (facts === undefined) FACTS.set(process, [{ ...fact, atMs }]);
  else facts.push({ ...fact, atMs });
}

export function factsOf(process: SimProcess | undefined): readonly TimedFact[] {
  return (process && FACTS.get(process)) ?? [];
}

/** What a rank puts, and publishes. */
export function valueOf(kind: 'got' | 'found', rank: number): string {
  return `${kind === 'got' ? 'card' : 'port'} of ${rank}`;
}
