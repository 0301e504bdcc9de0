/**
 * Pace of an agent's starts: how many children may be starting at once, and how long one may be without progress.
 * Pure. Both follow what is observed: how long this agent waits for a processor, which it shares with the starts where
 * many hosts are one machine, and how long starts take that make progress. A host that does not answer changes nothing.
 */

import type { CpuTimes } from '@stci/interface';

/** Time for one step of a start, as a multiple of the longest that was seen. */
const STEP_FACTOR = 3;

/** Work that takes up to this multiple of its processor time does not narrow the window: login nodes are often busy. */
const CONTENTION_FREE = 3;

/** Shortest time over which contention is measured, ms. */
const MEASURED_MS_MIN = 10;

/** Longest time without progress, and longest whole start, as multiples of the handshake time. */
const ALLOWANCE_FACTOR_MAX = 3;
const START_FACTOR_MAX = 6;

/**
 * How long a host waits for data from the agent that starts it: longer than any deadline of that agent, so a host whose
 * wait expires is cut off.
 */
export function hostWaitMs(handshakeMs: number): number {
  return (ALLOWANCE_FACTOR_MAX + 1) * handshakeMs;
}

/** Longest time that a start takes. */
export function startMsMax(handshakeMs: number): number {
  return START_FACTOR_MAX * handshakeMs;
}

export interface StartPaceInit {
  readonly windowMax: number;
  readonly handshakeMs: number;
}

export class StartPace {
  readonly #init: StartPaceInit;
  #window: number;
  #contention = 1;
  #measured: CpuTimes = { ranMs: 0, waitedMs: 0 };
  #stepMsMax = 0;

  constructor(init: StartPaceInit) {
    this.#init = init;
    this.#window = init.windowMax;
  }

  /** Children that may be starting at once. */
  get window(): number {
    const shareMax = Math.ceil((this.#init.windowMax * CONTENTION_FREE) / this.#contention);
    return Math.max(1, Math.min(this.#window, shareMax));
  }

  /** Processor times: to be given before `window` is asked for. */
  onCpuTimes(now: CpuTimes | undefined): void {
    if (now === undefined) return;
    const ranMs = now.ranMs - this.#measured.ranMs;
    const waitedMs = now.waitedMs - this.#measured.waitedMs;
    if (ranMs <= 0 || ranMs + waitedMs < MEASURED_MS_MIN) return;
    this.#contention = (ranMs + waitedMs) / ranMs;
    this.#measured = now;
  }

  /** Time without progress after which a start has failed. */
  get allowanceMs(): number {
    const { handshakeMs } = this.#init;
    return Math.max(handshakeMs, Math.min(STEP_FACTOR * this.#stepMsMax, ALLOWANCE_FACTOR_MAX * handshakeMs));
  }

  /** Total time after which a start has failed, whatever its progress. */
  get startMsMax(): number {
    return startMsMax(this.#init.handshakeMs);
  }

  /** A child made progress, or came up, `stepMs` after its last progress. */
  onProgress(stepMs: number): void {
    this.#stepMsMax = Math.max(this.#stepMsMax, stepMs);
  }

  /** A child came up. Slow starts halve the window, quick ones widen it by one. */
  onUp(startMs: number): void {
    const { handshakeMs, windowMax } = this.#init;
    if (startMs > handshakeMs / 2) this.#window = Math.max(1, Math.floor(this.#window / 2));
    else if (startMs < handshakeMs / 4) this.#window = Math.min(windowMax, this.#window + 1);
  }
}
