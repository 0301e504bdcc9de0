/** Experiments in simulation: the same runner, record and summary, at a virtual clock. */

import type { RunFacts } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { resolveSettings, SimulatedDriver, type SimulatedTarget } from '@stci/swarm';
import { defaultDirectory } from './run-directory.js';
import { runExperiment } from './run-experiment.js';
import type { Given, RunSource } from './run-source.js';
import { simulated, simulatedTargets } from './simulated-target.js';
import { versions } from './version.js';

/** Between two portions signals are heard. */
const EVENTS = 5000;

/** The exit code. `source`: its shape is that of `simulatedShape`. Throws StciError. */
export async function runInSimulation(source: RunSource, given: Given, programs: string): Promise<number> {
  const { experiment, plans, shape, file, text, isGolden } = source;
  const targets = await simulatedTargets(simulated(experiment), programs);
  const [first] = targets.values();
  const facts: RunFacts = {
    file, text, shape, isGolden, isSimulated: true, versions: versions(), parameters: parametersOf(first),
  };
  const directory = given.output ?? experiment.outputs.directory ?? defaultDirectory(experiment.name, Date.now());
  let driver: SimulatedDriver | undefined;
  return runExperiment({
    experiment, plans, facts, directory, isQuiet: given.quiet, isJson: given.json,
    driver: ({ write }) => {
      const target = (configuration: string): SimulatedTarget => targets.get(configuration) as SimulatedTarget;
      driver = new SimulatedDriver({ seed: experiment.seed, target, onRecord: write });
      return driver;
    },
    play: async (isOver) => {
      while (!isOver()) {
        const outcome = driver?.play(isOver, EVENTS);
        if (outcome === 'killed') throw killedError();
        if (outcome === 'stuck') throw new Error('nothing is left that could happen in the simulation');
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  });
}

function parametersOf(target: SimulatedTarget | undefined): RunFacts['parameters'] {
  const { params } = resolveSettings({ launcherproc: 'remote', ...target?.settings });
  return params.entries().map(({ name, value, source }) => ({ name, value, source }));
}

/** What SIGKILL would do to finject itself. */
function killedError(): StciError {
  return new StciError('STCI_EXPERIMENT_FAILED',
    'The experiment has killed its front-end, as it is allowed to. The record ends there, as that of a real run.');
}
