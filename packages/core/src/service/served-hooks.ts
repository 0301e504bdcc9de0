/** What the services of one job do for it at the controller. */

import { entryOf } from '@stci/interface';
import type { HostIndex, RankReport } from '@stci/interface';
import type { JobHooks } from './contracts.js';

export class ServedHooks implements JobHooks {
  readonly #hooks = new Map<string, JobHooks>();

  get size(): number {
    return this.#hooks.size;
  }

  /** Made by the first call for this service. */
  of<Hooks extends JobHooks>(name: string, make: () => Hooks): Hooks {
    return entryOf<string, JobHooks>(this.#hooks, name, make) as Hooks;
  }

  onStarted(): void {
    for (const each of this.#hooks.values()) each.onStarted?.();
  }

  onEnded(report: RankReport): void {
    for (const each of this.#hooks.values()) each.onEnded(report);
  }

  onRestarting(report: RankReport): void {
    for (const each of this.#hooks.values()) each.onRestarting(report);
  }

  onHostLost(host: HostIndex): void {
    for (const each of this.#hooks.values()) each.onHostLost(host);
  }

  /** Of each that is asked within its own deadline. */
  askWaits(done: (text: string) => void): void {
    const left = [...this.#hooks.values()];
    const next = (text: string): void => {
      const one = left.shift();
      if (one === undefined) done(text);
      else if (one.askWaits === undefined) next(text);
      else one.askWaits((more) => next(text + more));
    };
    next('');
  }
}
