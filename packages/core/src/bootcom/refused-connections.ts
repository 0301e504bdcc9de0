/** Refused connections at a listener: the first is told, then how many more there were, once a minute at most. */

import type { Clock } from '@stci/interface';

const TELL_MS = 60_000;

export class RefusedConnections {
  readonly #clock: Clock;
  readonly #tell: (text: string) => void;
  #toldMs: number | undefined;
  #untold = 0;
  #last = '';

  constructor(clock: Clock, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  add(cause: string): void {
    const nowMs = this.#clock.nowMs();
    this.#untold += 1;
    this.#last = cause;
    if (this.#toldMs === undefined) {
      this.#untold = 0;
      this.#toldMs = nowMs;
      this.#tell(`an unauthenticated connection was refused: ${cause}`);
    } else if (nowMs - this.#toldMs >= TELL_MS) this.flush();
  }

  /** Tells of those that were not told yet. */
  flush(): void {
    const count = this.#untold;
    if (count === 0) return;
    this.#untold = 0;
    this.#toldMs = this.#clock.nowMs();
    const what = count === 1 ? 'unauthenticated connection was' : 'unauthenticated connections were';
    this.#tell(`${count} more ${what} refused, the last: ${this.#last}`);
  }
}
