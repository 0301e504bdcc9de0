/**
 * One clock for all times of a history: finject's own, which is the controller's. Each host's offset was measured, with
 * its error bound; of several measurements the one nearest in time counts.
 */

import type { ClockOffset, HostIndex } from '@stci/interface';

/** A moment on finject's clock; the true one lies within `errorMs`. */
export interface Moment {
  readonly ms: number;
  readonly errorMs: number;
  /** The host by whose clock it was taken; undefined: finject's or the controller's, or not known. */
  readonly host?: HostIndex;
}

/** Error of the time between two moments: that of one clock is exact, however wrong the clock. */
export function errorBetween(from: Moment | undefined, to: Moment | undefined): number {
  if (from?.host !== undefined && from.host === to?.host) return 0;
  return (from?.errorMs ?? 0) + (to?.errorMs ?? 0);
}

/** Where a time was taken: a host, the controller, or an agent that is not known. */
export type TimeSource = HostIndex | 'controller' | 'unknown';

interface Measured {
  readonly atMs: number;
  readonly offset: ClockOffset;
}

export class HostClocks {
  readonly #byHost = new Map<HostIndex, Measured[]>();

  /** True: no host's offset is known. */
  get isEmpty(): boolean {
    return this.#byHost.size === 0;
  }

  add(clocks: readonly ClockOffset[], atMs: number): void {
    for (const offset of clocks) {
      const list = this.#byHost.get(offset.host) ?? [];
      list.push({ atMs, offset });
      this.#byHost.set(offset.host, list);
    }
  }

  /** A host that was not measured has offset 0 and error 0: see `isEmpty`. */
  correct(wallMs: number, source: TimeSource): Moment {
    if (source === 'controller') return { ms: wallMs, errorMs: 0 };
    if (source === 'unknown') return { ms: wallMs, errorMs: this.#worst() };
    const measured = nearest(this.#byHost.get(source) ?? [], wallMs);
    return { ms: wallMs - (measured?.offsetMs ?? 0), errorMs: measured?.errorMs ?? 0, host: source };
  }

  #worst(): number {
    let worst = 0;
    for (const list of this.#byHost.values()) {
      for (const { offset } of list) worst = Math.max(worst, Math.abs(offset.offsetMs) + offset.errorMs);
    }
    return worst;
  }
}

function nearest(list: readonly Measured[], atMs: number): ClockOffset | undefined {
  let best: Measured | undefined;
  for (const one of list) {
    if (best === undefined || Math.abs(one.atMs - atMs) < Math.abs(best.atMs - atMs)) best = one;
  }
  return best?.offset;
}

/** The source of an agent's times, by its name: `root:3` and `session:3` are on host 3. */
export function sourceOf(agent: string): TimeSource {
  if (agent === 'controller' || agent === 'front-end') return 'controller';
  const found = /^(?:root|session):(\d+)/.exec(agent);
  return found === null ? 'unknown' : Number(found[1]);
}
