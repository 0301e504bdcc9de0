/**
 * Refused connections at a listener: the first is reported at once, further ones as a number, at most once a minute.
 */

import type { Clock } from '@stci/interface';

const REPORT_MS = 60_000;

export class RefusedConnections {
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  #reportedMs: number | undefined;
  #unreported = 0;
  #last = '';

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  add(cause: string): void {
    const nowMs = this.#clock.nowMs();
    this.#unreported += 1;
    this.#last = cause;
    if (this.#reportedMs === undefined) {
      this.#unreported = 0;
      this.#reportedMs = nowMs;
      this.#report(`an unauthenticated connection was refused: ${cause}`);
    } else if (nowMs - this.#reportedMs >= REPORT_MS) this.flush();
  }

  /** Reports the connections that were not reported yet. */
  flush(): void {
    const count = this.#unreported;
    if (count === 0) return;
    this.#unreported = 0;
    this.#reportedMs = this.#clock.nowMs();
    const what = count === 1 ? 'unauthenticated connection was' : 'unauthenticated connections were';
    this.#report(`${count} more ${what} refused, the last: ${this.#last}`);
  }
}
