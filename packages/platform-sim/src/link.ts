/**
 * What lies between two hosts: latency, jitter, bandwidth, and whether anything passes at all. A cut link is silence:
 * what is under way waits and flows on when the link is mended, or both ends give up after the timeout of the
 * connections on it.
 */

export interface LinkParams {
  /** One way, ms. */
  readonly latencyMs: number;
  /** Added to the latency, uniform in [0, jitterMs). Never reorders. */
  readonly jitterMs: number;
  /** Bytes a ms of each connection; Infinity: no limit. */
  readonly bytesPerMs: number;
  /** Probability that a chunk is cut somewhere on its way. */
  readonly cutChance: number;
  /** Silence with data under way after which both ends close: ms. */
  readonly timeoutMs: number;
}

/** Holds packets back while its link is cut. */
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
