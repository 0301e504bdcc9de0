/**
 * What a session agent knows of a job's ranks for its programs: who is lost or has ended, who takes part again, and
 * which agent each is at. The controller tells it; detectors may be faster with losses. Pure.
 */

import {
  rankRanges, ranksInRanges, entryOf, type HostIndex, type LostRanks, type ProgramErrorCode, type Rank,
  type RankRange,
} from '@stci/interface';
import type { MessageBody } from '../messages/messages.js';
import { lossText } from './agreement-text.js';

/** Why nothing can be sent to a rank, or come from it. */
export interface RankProblem {
  readonly code: ProgramErrorCode;
  readonly reason: string;
}

type Places = readonly (readonly [name: string, ranks: RankRange[]])[];

export class RankStatusView {
  readonly #size: number;
  readonly #lost = new Map<Rank, { readonly reason: string; readonly host: string }>();
  readonly #ended = new Set<Rank>();
  /** Of ranks that take part again: as which attempt, and since which decision. */
  readonly #attempts = new Map<Rank, { readonly attempt: number; readonly since: number }>();
  readonly #hosts: Int32Array;
  readonly #names = new Map<HostIndex, string>();
  /** Until one changes. */
  #places: Places | undefined;
  #isKnown = false;

  constructor(size: number) {
    this.#size = size;
    this.#hosts = new Int32Array(size).fill(-1);
  }

  /** The controller has said where the ranks are. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** All losses so far. */
  get lost(): LostRanks[] {
    return [...this.#lost].map(([rank, { reason, host }]) => [rank, rank, reason, host]);
  }

  get ended(): RankRange[] {
    return rankRanges([...this.#ended].sort((a, b) => a - b));
  }

  attempt(rank: Rank): number {
    return this.#attempts.get(rank)?.attempt ?? 1;
  }

  /** Where a rank is, or was last. */
  host(rank: Rank): HostIndex {
    return this.#hosts[rank] as HostIndex;
  }

  /** Those of the job. Ascending. */
  get hosts(): HostIndex[] {
    return [...this.#names.keys()].sort((a, b) => a - b);
  }

  hostName(rank: Rank): string {
    return this.#names.get(this.host(rank)) ?? '';
  }

  /** The ranks of each host, in the order of hosts. */
  places(): Places {
    return this.#places ??= this.#findPlaces();
  }

  get placesCount(): number {
    return this.#names.size;
  }

  #findPlaces(): Places {
    const ranks = new Map<HostIndex, Rank[]>();
    for (const [rank, host] of this.#hosts.entries()) entryOf(ranks, host, () => []).push(rank);
    const hosts = [...ranks].sort(([a], [b]) => a - b).filter(([host]) => this.#names.has(host));
    return hosts.map(([host, own]) => [this.#names.get(host) as string, rankRanges(own)]);
  }

  /** undefined: it is there. */
  problem(rank: Rank): RankProblem | undefined {
    const lost = this.#lost.get(rank);
    if (lost !== undefined) {
      return { code: 'STCI_CLIENT_RANK_LOST', reason: lossText(rank, lost.reason, lost.host) };
    }
    if (!this.#ended.has(rank)) return undefined;
    return { code: 'STCI_CLIENT_RANK_ENDED', reason: lossText(rank, 'it has ended', this.hostName(rank)) };
  }

  /** Why no message can come from anybody but `rank` itself. */
  aloneProblem(rank: Rank): RankProblem | undefined {
    if (this.#lost.size + this.#ended.size < this.#size - 1) return undefined;
    for (let other = 0; other < this.#size; other++) {
      if (other !== rank && this.problem(other) === undefined) return undefined;
    }
    const code = this.#lost.size > 0 ? 'STCI_CLIENT_RANK_LOST' : 'STCI_CLIENT_RANK_ENDED';
    return { code, reason: 'no other rank is left that could send' };
  }

  /** Returns what is news. Losses that a later decision has taken back are not. */
  onState({ decided, lost, ended, places, attempts }: MessageBody<'program.state'>): LostRanks[] {
    this.#places = undefined;
    for (const [host, name, ranks] of places) {
      this.#names.set(host, name);
      for (const rank of ranksInRanges(ranks)) if (this.#isOld(rank, decided)) this.#hosts[rank] = host;
    }
    for (const [rank, attempt] of attempts) {
      if (this.#isOld(rank, decided)) this.#attempts.set(rank, { attempt, since: decided });
    }
    this.#isKnown = true;
    this.onEnded(ended);
    return this.onLost(lost.flatMap(([first, last, ...why]) =>
      ranksInRanges([[first, last]]).filter((rank) => this.#isOld(rank, decided))
        .map((rank): LostRanks => [rank, rank, ...why])));
  }

  /** Returns those that are news. Without a host's name, it is that of the first rank. */
  onLost(lost: readonly LostRanks[]): LostRanks[] {
    const found = lost.filter(([first, last]) => this.#isNews(first, last)).map(
      ([first, last, reason, host]): LostRanks => [first, last, reason, host === '' ? this.hostName(first) : host]);
    for (const [first, last, reason, host] of found) {
      for (let rank = first; rank <= last && rank < this.#size; rank++) this.#lost.set(rank, { reason, host });
    }
    return found;
  }

  onEnded(ranks: readonly RankRange[]): void {
    for (const rank of ranksInRanges(ranks)) if (rank < this.#size) this.#ended.add(rank);
  }

  /** Ranks that take part again are not lost. */
  onJoined({ sequence, joined, joins }: MessageBody<'program.agreed'>): void {
    this.#places = undefined;
    ranksInRanges(joined).forEach((rank, i) => {
      const [attempt, host, name] = joins[i] ?? [1, this.host(rank), this.hostName(rank)];
      this.#lost.delete(rank);
      this.#attempts.set(rank, { attempt, since: sequence });
      this.#hosts[rank] = host;
      this.#names.set(host, name);
    });
  }

  #isOld(rank: Rank, decided: number): boolean {
    return (this.#attempts.get(rank)?.since ?? 0) <= decided;
  }

  #isNews(first: Rank, last: Rank): boolean {
    for (let rank = first; rank <= last && rank < this.#size; rank++) if (!this.#lost.has(rank)) return true;
    return false;
  }
}
