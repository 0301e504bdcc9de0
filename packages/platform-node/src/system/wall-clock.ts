/**
 * Wall-clock time with fractions. The system tells Node whole milliseconds, and when the process began to a
 * microsecond: from there the monotonic clock counts on. On Linux the system's adjustments (NTP) make both
 * clocks equally fast. Whatever happens, a reading lies within the millisecond that the system shows: if the clock is
 * set, it is followed at once, and the beginning of its milliseconds is found anew.
 */

/** The last moment of a millisecond. */
const LAST_MS = 0.999;
/** A reading that took longer was interrupted: it shows nothing of the clocks. */
const READING_MS = 0.05;
/** Difference by which the beginning may merely have been found too late. */
const DRIFT_MS = 0.05;
/** Where the system's clock stands still nothing is waited for longer. */
const FIND_MS = 2;

export class WallClock {
  readonly #systemMs: () => number;
  readonly #nowMs: () => number;
  /** Wall-clock time when the monotonic clock was 0. */
  #baseMs: number | undefined;

  /**
   * `systemMs`: whole ms since the epoch; `nowMs`: of a monotonic clock, with fractions; `baseMs`: the wall-clock time
   * when that was 0, where it is known, so that nothing is waited for.
   */
  constructor(systemMs: () => number, nowMs: () => number, baseMs?: number) {
    this.#systemMs = systemMs;
    this.#nowMs = nowMs;
    this.#baseMs = baseMs;
  }

  /** ms since the epoch, to 1 µs. Never less than before, unless the system's clock was set back. */
  read(): number {
    this.#baseMs ??= this.#findBase();
    const beforeMs = this.#nowMs();
    const systemMs = this.#systemMs();
    const ms = this.#baseMs + beforeMs;
    const withinMs = Math.min(Math.max(ms, systemMs), systemMs + LAST_MS);
    const isSteady = withinMs === ms || this.#nowMs() - beforeMs > READING_MS;
    if (!isSteady) this.#baseMs = Math.abs(withinMs - ms) < DRIFT_MS ? withinMs - beforeMs : undefined;
    return Math.floor(withinMs * 1000) / 1000;
  }

  #findBase(): number {
    const firstMs = this.#systemMs();
    const limitMs = this.#nowMs() + FIND_MS;
    for (;;) {
      const beforeMs = this.#nowMs();
      const systemMs = this.#systemMs();
      if (systemMs !== firstMs || beforeMs > limitMs) return systemMs - beforeMs;
    }
  }
}
