/** The commands of a phase, one after the other, by the driver. */

import type { Clock } from '@stci/interface';
import type { Check } from '../experiment/contracts.js';
import type { ExperimentDriver } from './contracts.js';
import { Timers } from './timers.js';

export type CommandCheck = Extract<Check, { readonly type: 'command' }>;

/** How long a command may take behind its own time-out, within which the driver ends it. */
const LATE_MS = 5000;

export interface CommandChecksInit {
  readonly checks: readonly Check[];
  readonly clock: Clock;
  readonly driver: Pick<ExperimentDriver, 'command' | 'endCommands'>;
  onResult(check: CommandCheck, isPassed: boolean, text: string): void;
}

export class CommandChecks {
  readonly #init: CommandChecksInit;
  readonly #timers: Timers;
  #isStopped = false;

  constructor(init: CommandChecksInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock);
  }

  /** Calls back with the name of the first that did not pass. */
  run(phase: CommandCheck['phase'], done: (failed: string | undefined) => void): void {
    const checks = this.#init.checks.filter((check): check is CommandCheck =>
      check.type === 'command' && check.phase === phase);
    let failed: string | undefined;
    const next = (): void => {
      const check = checks.shift();
      if (check === undefined) return done(failed);
      const onDone = (isPassed: boolean, text: string): void => {
        if (this.#isStopped) return;
        this.#init.onResult(check, isPassed, text);
        if (!isPassed) failed ??= check.name;
        next();
      };
      this.#timers.within(check.timeoutMs + LATE_MS,
        (answer: (isPassed: boolean, text: string) => void) => this.#init.driver.command(check, answer),
        onDone, () => onDone(false, `it did not end within ${check.timeoutMs} ms`));
    };
    next();
  }

  /** Nothing is called back any more, and no command goes on. */
  stop(): void {
    this.#isStopped = true;
    this.#timers.cancelAll();
    this.#init.driver.endCommands?.();
  }
}
