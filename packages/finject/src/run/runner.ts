/**
 * Runs an experiment: its repeats, one after the other, until all are over or a stop rule applies. All that happens is
 * recorded at once, by the driver, whose clock decides all times: the runner is the same in simulation.
 */

import type { StciError } from '@stci/interface';
import { HISTORY_FORMAT, type HistoryEntry, type HistoryRecord, type StopReason } from '../history/contracts.js';
import type { RunInit } from './contracts.js';
import { Repeat } from './repeat.js';
import { Timers } from './timers.js';

export interface RunResult {
  readonly stopped: StopReason | undefined;
  /** What the end of the run says. */
  readonly text: string;
  /** Repeats that were begun, and of these by `didPass` failed. */
  readonly repeats: number;
  readonly failures: number;
  /** Why a repeat could not be begun. */
  readonly error: StciError | undefined;
}

const REASONS: Readonly<Record<StopReason, string>> = {
  abort: 'aborted',
  signal: 'interrupted',
  time: 'stopped: the time of the run is over (stop: after)',
  failures: 'stopped: too many repeats did not pass (stop: failures)',
  error: 'stopped: a repeat could not be begun',
};

export class Runner {
  readonly #init: RunInit;
  readonly #timers: Timers;
  readonly #done: (result: RunResult) => void;
  #repeat: Repeat | undefined;
  #begun = 0;
  #failures = 0;
  #stopped: StopReason | undefined;
  #error: StciError | undefined;
  #runRecord: HistoryRecord | undefined;
  /** Of the repeat that runs, where they are asked for. */
  #records: HistoryRecord[] = [];
  #isOver = false;

  /** `done` is called once, when nothing of the run is left. */
  constructor(init: RunInit, done: (result: RunResult) => void) {
    this.#init = init;
    this.#done = done;
    this.#timers = new Timers(init.driver.platform.clock);
  }

  start(): void {
    const { experiment, facts, stop } = this.#init;
    this.#runRecord = this.#record({ type: 'run', format: HISTORY_FORMAT, experiment, ...facts });
    if (stop.timeMs !== undefined) this.#timers.after(stop.timeMs, () => this.abort('time'));
    this.#next();
  }

  /** The hosts of a repeat that is over are being looked at: what `abort` waits for, unless it is called again. */
  get isSearching(): boolean {
    return this.#repeat?.isSearching === true;
  }

  /** Undoes all faults, ends the job and closes, at any moment; the second time in a hurry. */
  abort(reason: StopReason): void {
    if (this.#isOver) return;
    this.#stopped ??= reason;
    this.#repeat?.stop(reason);
  }

  #next(): void {
    const { experiment, plans, driver } = this.#init;
    const plan = plans[this.#begun];
    if (plan === undefined || this.#stopped !== undefined) return this.#finish();
    this.#begun += 1;
    this.#records = [];
    let isOver = false;
    const repeat = new Repeat({
      experiment, plan, driver,
      record: (entry) => {
        if (isOver) return;
        const record = this.#record(entry);
        if (this.#init.didPass !== undefined) this.#records.push(record);
      },
      done: (error) => {
        isOver = true;
        this.#onRepeatOver(error);
      },
    });
    this.#repeat = repeat;
    repeat.start();
  }

  #onRepeatOver(error: StciError | undefined): void {
    this.#repeat = undefined;
    const { didPass, stop, driver } = this.#init;
    if (error !== undefined) {
      this.#error = error;
      this.#stopped ??= 'error';
    } else if (this.#stopped === undefined && didPass !== undefined && this.#runRecord !== undefined) {
      if (!didPass([this.#runRecord, ...this.#records])) this.#failures += 1;
      if (stop.failuresMax > 0 && this.#failures >= stop.failuresMax) this.#stopped = 'failures';
    }
    this.#records = [];
    driver.platform.clock.soon(() => this.#next());
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timers.cancelAll();
    const { length } = this.#init.plans;
    const stopped = this.#stopped === 'failures' && this.#begun === length ? undefined : this.#stopped;
    const count = `${this.#begun} of ${length} repeats`;
    const text = stopped === undefined ? count : `${REASONS[stopped]}, after ${count}`;
    this.#record({ type: 'run-end', stopped, text });
    this.#done({ stopped, text, repeats: this.#begun, failures: this.#failures, error: this.#error });
  }

  #record(entry: HistoryEntry): HistoryRecord {
    const { driver, observer } = this.#init;
    const { clock } = driver.platform;
    const record: HistoryRecord = { wallMs: clock.wallMs(), monotonicMs: clock.nowMs(), ...entry };
    driver.write(record);
    observer.onRecord(record);
    return record;
  }
}
