/**
 * The connection between two hosts: latency, jitter, bandwidth, and whether data passes at all. A cut link is silent:
 * data in flight waits until the link is mended, or both ends of its connections close after a timeout.
 */

export interface LinkParams {
  /** One way, ms. */
  readonly latencyMs: number;
  /** Added to the latency, uniform in [0, jitterMs). Never reorders. */
  readonly jitterMs: number;
  /** Bytes per ms of each connection; Infinity: no limit. */
  readonly bytesPerMs: number;
  /** Probability that a chunk is split at a random place. */
  readonly cutChance: number;
  /** Time after which both ends close if data in flight does not arrive, ms. */
  readonly timeoutMs: number;
}

/** Stalls packets while its link is cut. */
export interface Stalled {
  resume(): void;
}

export class Link {
  params: LinkParams;
  #isCut = false;
  readonly #stalled = new Set<Stalled>();

  constructor(params: LinkParams) {
    this.params = params;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  mend(): void {
    this.#isCut = false;
    const flows = [...this.#stalled];
    this.#stalled.clear();
    for (const flow of flows) flow.resume();
  }

  stall(flow: Stalled): void {
    this.#stalled.add(flow);
  }
}
