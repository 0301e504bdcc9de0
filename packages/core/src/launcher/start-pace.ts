/**
 * Pace of an agent's starts: how many children may be starting at once, and how long one may be without progress.
 * Pure. Both follow what is observed: how long this agent waits for a processor, which it shares with the starts where
 * many hosts are one machine, and how long starts take that make progress. A host that does not answer changes nothing.
 */

import type { CpuTimes } from '@stci/interface';

/** Time for one step of a start, as a multiple of the longest that was seen. */
const STEP_FACTOR = 3;

/** Work that takes so many times its processor time does not narrow the window: busy login nodes are common. */
const CONTENTION_FREE = 3;

/** Least time that contention is measured over, ms. */
const MEASURED_MS_MIN = 10;

/** Longest time without progress, and longest whole start, as multiples of the handshake time. */
const ALLOWANCE_FACTOR_MAX = 3;
const START_FACTOR_MAX = 6;

/**
 * How long a host waits for what its starter sends. Our own deadline comes first, whatever was observed; a host that
 * hears nothing for so long is cut off.
 */
export function hostWaitMs(handshakeMs: number): number {
  return (ALLOWANCE_FACTOR_MAX + 1) * handshakeMs;
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

  /** How many times its processor time this agent's work took lately. */
  get contention(): number {
    return this.#contention;
  }

  /** To be called before `window` is asked for. */
  onCpuTimes(now: CpuTimes | undefined): void {
    if (now === undefined) return;
    const ranMs = now.ranMs - this.#measured.ranMs;
    const waitedMs = now.waitedMs - this.#measured.waitedMs;
    if (ranMs <= 0 || ranMs + waitedMs < MEASURED_MS_MIN) return;
    this.#contention = (ranMs + waitedMs) / ranMs;
    this.#measured = now;
  }

  /** A start that shows no progress for so long has failed. */
  get allowanceMs(): number {
    const { handshakeMs } = this.#init;
    return Math.max(handshakeMs, Math.min(STEP_FACTOR * this.#stepMsMax, ALLOWANCE_FACTOR_MAX * handshakeMs));
  }

  /** A start that takes so long in all has failed, whatever progress it makes. */
  get startMsMax(): number {
    return START_FACTOR_MAX * this.#init.handshakeMs;
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
