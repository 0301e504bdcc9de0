/**
 * The live line of a launch: hosts up of all, those that are waited for, retries; on a terminal alone, once the launch
 * takes longer than people wait without a word, and gone when the first rank runs: from then on the screen is the
 * ranks'. A few lines of our own: bars of libraries draw by timers and streams that are not ours to hold up.
 */

import { foldHostlist } from '@stci/core';
import type { RunProgress } from '@stci/core/run';
import { printable, type HostIndex, type JobEvent, type JobMap } from '@stci/interface';
import type { Terminal } from '../output/terminal.js';

const FIRST_MS = 500;
const PERIOD_MS = 200;
/** Hosts that are named. */
const NAMES_MAX = 3;
const ERASE = '\r\x1b[K';

/** What the line tells. */
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
  /** As it was told last: hosts below one that failed are no longer up, and nobody tells of each. */
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
      case 'bootstrap':
        return this.#onBootstrap(event);
      case 'started':
      case 'running':
      case 'ending':
      case 'ended':
        return this.stop();
    }
  }

  /** Takes the line away for other text; it is drawn again soon. */
  clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    this.#terminal.err.draw(Buffer.from(ERASE));
  }

  /** Takes it away for good. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.clear();
  }

  #onBootstrap({ host, name, decision, spare }: Extract<JobEvent, { type: 'bootstrap' }>): void {
    this.#missing.delete(host);
    if (decision === 'shrink') this.#total -= 1;
    else this.#missing.set(host, spare ?? name);
    if (decision === 'retry') this.#retries += 1;
  }

  #draw(): void {
    const { columns } = this.#terminal;
    if (columns === undefined) return this.stop();
    this.#timer = setTimeout(() => this.#draw(), PERIOD_MS);
    this.#timer.unref();
    // A terminal that is held takes one line when it goes on, not all that were missed.
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
