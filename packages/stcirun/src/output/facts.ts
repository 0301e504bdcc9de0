/**
 * What sinks know of the job: its size, and the host and program of each rank. Mapped anew where hosts were replaced
 * or left out before the launch, and where ranks are started again elsewhere.
 */

import { hostOf } from '@stci/core';
import type { JobMap, Rank } from '@stci/interface';
import type { OutputFacts } from './sink.js';

export class JobFacts implements OutputFacts {
  readonly lineBytesMax: number;
  readonly rankOf: (rank: Rank) => Rank;
  #map: JobMap;
  #lookup: ReturnType<typeof hostOf>;
  /** Handed on without its object. */
  readonly hostOf = (rank: Rank): string => this.#map.hosts[this.#lookup.host(rank)]?.name ?? '?';
  readonly appOf = (rank: Rank): number => this.#lookup.placement(rank).app;

  /** `ranksEach`: of jobs that have so many ranks each, as with --each. */
  constructor(map: JobMap, lineBytesMax: number, ranksEach = Infinity) {
    this.rankOf = (rank) => rank % ranksEach;
    this.lineBytesMax = lineBytesMax;
    this.#map = map;
    this.#lookup = hostOf(map);
  }

  get size(): number {
    return this.#map.size;
  }

  remap(map: JobMap): void {
    this.#map = map;
    this.#lookup = hostOf(map);
  }
}
