/** A run of an experiment in simulation: the runner over the simulated driver, played in portions. */

import {
  Runner, type Experiment, type RepeatPlan, type RunInit, type RunResult, type StopReason,
} from '@stci/finject/experiment';
import { SimulatedDriver, type SimulationInit } from './experiment-driver.js';

export interface SimulatedRunInit extends SimulationInit {
  readonly experiment: Experiment;
  readonly plans: readonly RepeatPlan[];
  readonly facts: RunInit['facts'];
  readonly didPass?: RunInit['didPass'];
}

export class SimulatedRun {
  readonly driver: SimulatedDriver;
  readonly #runner: Runner;
  #result: RunResult | undefined;

  constructor({ experiment, plans, facts, didPass, ...init }: SimulatedRunInit) {
    this.driver = new SimulatedDriver(init);
    this.#runner = new Runner({
      experiment, plans, facts, driver: this.driver, stop: experiment.stop, didPass,
      observer: { onRecord: () => undefined },
    }, (result) => (this.#result = result));
    this.#runner.start();
  }

  /** Once it is over. */
  get result(): RunResult | undefined {
    return this.#result;
  }

  /** Undoes all and ends, as it is played further; the second time in a hurry. */
  abort(reason: StopReason): void {
    this.#runner.abort(reason);
  }

  /** Plays at most so many events. `killed`: by its own fault, and its record is cut off. Throws if it is stuck. */
  play(maxEvents: number): 'over' | 'busy' | 'killed' {
    const outcome = this.driver.play(() => this.#result !== undefined, maxEvents);
    if (outcome === 'stuck') throw new Error('The simulated experiment is stuck: nothing is left that could happen.');
    return outcome;
  }
}
