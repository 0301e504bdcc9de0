/**
 * Places consecutive ranks on hosts in rounds and keeps the result as runs. A round gives host i of a turn `chunks[i]`
 * ranks. Many equal rounds are one strided run a host where each takes one rank a round, one plain run where a single
 * host takes all, and a run a round otherwise. Runs of one host are ascending and do not interleave.
 */

import type { HostIndex, Rank, RankRun } from '@stci/interface';

/** Ranks that hosts have before. */
export interface PlacedBefore {
  readonly used: readonly number[];
  readonly next: Rank;
  readonly lastHost: HostIndex;
}

export class RoundPlacer {
  readonly runs: RankRun[][];
  /** Ranks on each host so far. */
  readonly used: number[];
  /** The rank that is placed next. */
  next: Rank;
  /** The host that took the last rank; -1 before the first. */
  lastHost: HostIndex;

  /** `used`: ranks that hosts have before; the first that is placed has the number `next`. */
  constructor(hosts: number, { used = [], next = 0, lastHost = -1 }: Partial<PlacedBefore> = {}) {
    this.runs = Array.from({ length: hosts }, () => []);
    this.used = Array.from({ length: hosts }, (_, host) => used[host] ?? 0);
    this.next = next;
    this.lastHost = lastHost;
  }

  /** Places at most `roundsMax` ≥ 1 rounds and at most `left` ≥ 1 ranks; returns how many it placed. */
  place(app: number, hosts: readonly HostIndex[], chunks: readonly number[], roundsMax: number, left: number): number {
    const period = chunks.reduce((sum, chunk) => sum + chunk, 0);
    const rounds = Math.min(roundsMax, Math.floor(left / period));
    let placed = 0;
    if (rounds > 0) {
      hosts.forEach((host, i) => {
        this.#placeRounds(app, host, this.next + placed, chunks[i]!, rounds, period);
        placed += chunks[i]!;
      });
      placed = rounds * period;
      this.next += placed;
      this.lastHost = hosts.at(-1)!;
    }
    return rounds < roundsMax ? placed + this.#placePart(app, hosts, chunks, left - placed) : placed;
  }

  #placeRounds(app: number, host: HostIndex, first: number, chunk: number, rounds: number, period: number): void {
    if (chunk === period) this.#append(host, { app, first, count: chunk * rounds, stride: 1 });
    else if (chunk === 1) this.#append(host, { app, first, count: rounds, stride: rounds === 1 ? 1 : period });
    else {
      for (let round = 0; round < rounds; round++) {
        this.#append(host, { app, first: first + round * period, count: chunk, stride: 1 });
      }
    }
  }

  /** A last round that is cut short. */
  #placePart(app: number, hosts: readonly HostIndex[], chunks: readonly number[], left: number): number {
    let placed = 0;
    for (let i = 0; i < hosts.length && placed < left; i++) {
      const count = Math.min(chunks[i]!, left - placed);
      this.#append(hosts[i]!, { app, first: this.next, count, stride: 1 });
      this.next += count;
      this.lastHost = hosts[i]!;
      placed += count;
    }
    return placed;
  }

  #append(host: HostIndex, run: RankRun): void {
    const runs = this.runs[host]!;
    this.used[host]! += run.count;
    const joined = join(runs.at(-1), run);
    if (joined === undefined) runs.push(run);
    else runs[runs.length - 1] = joined;
  }
}

/** One run for both, where the second goes on in step with the first. The stride of a single rank is free. */
function join(before: RankRun | undefined, after: RankRun): RankRun | undefined {
  if (before === undefined || before.app !== after.app) return undefined;
  const step = after.first - (before.first + (before.count - 1) * before.stride);
  const fits = (run: RankRun): boolean => run.count === 1 || run.stride === step;
  if (!fits(before) || !fits(after)) return undefined;
  return { app: before.app, first: before.first, count: before.count + after.count, stride: step };
}
