/**
 * The progress line of a launch: hosts up of all, hosts that are still starting, retries. It is shown on a terminal
 * only, once the launch takes longer than half a second, and erased when the first rank runs: from then on the screen
 * belongs to the ranks. Progress bars of libraries draw by timers and streams of their own, to which back-pressure does
 * not apply.
 */

import { foldHostlist } from '@stci/core';
import type { RunProgress } from '@stci/core/run';
import { printable, type HostIndex, type JobEvent, type JobMap, type RecoveryEvent } from '@stci/interface';
import type { Terminal } from '../../output/terminal.js';

const FIRST_MS = 500;
const PERIOD_MS = 200;
/** Hosts that are named. */
const NAMES_MAX = 3;
const ERASE = '\r\x1b[K';

/** What the line shows. */
export interface LaunchState {
  readonly up: number;
  readonly total: number;
  /** Names of hosts that are not up, longest awaited first. */
  readonly missing: readonly string[];
  readonly retries: number;
  readonly elapsedMs: number;
}

/** At most `columns` characters. */
export function progressText({ up, total, missing, retries, elapsedMs }: LaunchState, columns: number): string {
  const names = missing.slice(0, NAMES_MAX);
  const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : '';
  const who = missing.length > 0 ? `${foldHostlist(names)}${more}` : `${total - up} of them again`;
  const waiting = up < total ? `, waiting for ${who}` : ', starting ranks';
  const again = retries === 0 ? '' : `, ${retries} ${retries === 1 ? 'retry' : 'retries'}`;
  const text = printable(`stcirun: ${up}/${total} hosts up${again}, ${(elapsedMs / 1000).toFixed(1)} s${waiting}`);
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`;
}

export class Progress implements RunProgress {
  readonly #terminal: Terminal;
  readonly #breakLine: () => void;
  readonly #startMs = performance.now();
  /** Of the hosts that are to come up, by index; in the order in which they are started, near the root first. */
  readonly #missing: Map<HostIndex, string>;
  #total: number;
  /** As reported last: when a host fails, those below it are no longer up, which is not reported for each. */
  #up = 0;
  #retries = 0;
  #shown = false;
  #timer: NodeJS.Timeout | undefined;

  /** `breakLine` ends an open line of a rank. */
  constructor(terminal: Terminal, map: JobMap, breakLine: () => void) {
    this.#terminal = terminal;
    this.#breakLine = breakLine;
    this.#total = map.hosts.length;
    this.#missing = new Map(map.hosts.map(({ host, name }) => [host, name]));
    this.#timer = setTimeout(() => this.#draw(), FIRST_MS);
    this.#timer.unref();
  }

  on(event: JobEvent): void {
    switch (event.type) {
      case 'host-up':
        this.#missing.delete(event.host);
        this.#up = event.up;
        return;
      case 'recovery':
        return event.phase === 'launching' ? this.#onRecovery(event) : undefined;
      case 'started':
      case 'running':
      case 'ending':
      case 'ended':
        return this.stop();
    }
  }

  /** Erases the line for other text; it is drawn again soon. */
  clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    this.#terminal.err.draw(Buffer.from(ERASE));
  }

  /** Erases it for good. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.clear();
  }

  #onRecovery({ host, name, action, spare }: RecoveryEvent): void {
    this.#missing.delete(host);
    if (action === 'leave-out') this.#total -= 1;
    else this.#missing.set(host, spare ?? name);
    if (action === 'start-again') this.#retries += 1;
  }

  #draw(): void {
    const { columns } = this.#terminal;
    if (columns === undefined) return this.stop();
    this.#timer = setTimeout(() => this.#draw(), PERIOD_MS);
    this.#timer.unref();
    // A terminal that was held (Ctrl-S) gets only the current line, not all that were missed.
    if (this.#terminal.err.queuedBytes > 0) return;
    const missing = [...this.#missing.values()];
    const total = this.#total;
    const elapsedMs = performance.now() - this.#startMs;
    const state = { up: Math.min(this.#up, total - missing.length), total, missing, retries: this.#retries, elapsedMs };
    if (!this.#shown) this.#breakLine();
    this.#shown = true;
    this.#terminal.err.draw(Buffer.from(`${ERASE}${progressText(state, columns - 1)}`));
  }
}
