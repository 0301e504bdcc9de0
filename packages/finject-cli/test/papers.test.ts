// @timeoutMs 300000
/** The experiments of experiments/: each is valid, for real hosts and simulated ones, and runs in simulation. */

import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readExperiment, simulated, simulatedTargets, targetShape } from '@stci/finject-cli';
import { planRepeats, summarize, type HistoryRecord, type RunSummary } from '@stci/finject/experiment';
import { SimulatedRun, type SimulatedTarget } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';

const PROGRAMS = fileURLToPath(new URL('../../stcirun/dist/bundle', import.meta.url));
const DIRECTORY = fileURLToPath(new URL('../../../experiments', import.meta.url));
const EVENTS = 50_000;
const ROUNDS_MAX = 500;

const FILES = readdirSync(DIRECTORY).filter((name) => name.endsWith('.yaml'));

/** One repeat of the first configuration: of those with different numbers of hosts the smallest. */
async function simulate(name: string): Promise<RunSummary & { readonly isHarmless: boolean }> {
  const shapeOf = (one: Parameters<typeof simulated>[0]): ReturnType<typeof targetShape> =>
    targetShape(simulated(one), PROGRAMS);
  const { experiment: whole, shape, problems, text } =
    await readExperiment(`${DIRECTORY}/${name}`, PROGRAMS, { repeats: 1 }, shapeOf);
  assert.equal(problems, []);
  if (whole === undefined || shape === undefined) throw new Error('it cannot be read');
  const configurations = whole.configurations.slice(0, 1);
  const experiment = simulated({ ...whole, configurations });
  const targets = await simulatedTargets(experiment, PROGRAMS);
  const records: HistoryRecord[] = [];
  const run = new SimulatedRun({
    seed: experiment.seed, experiment, plans: planRepeats(experiment, shape),
    target: (configuration) => targets.get(configuration) as SimulatedTarget,
    onRecord: (record) => records.push(record),
    facts: { file: name, text, shape, isSimulated: true, isGolden: false, versions: {}, parameters: [] },
  });
  for (let round = 0; run.play(EVENTS) === 'busy';) assert.ok(++round < ROUNDS_MAX, 'it ends');
  // Where no rank is to fail, there is nothing to detect.
  const isHarmless = experiment.checks.some((check) => check.type === 'failed-ranks' && check.ranks.length === 0);
  return { ...summarize({ directory: name, records, isCutOff: false }), isHarmless };
}

suite('experiments', (test) => {
  for (const name of FILES) {
    test(`${name}: for real hosts`, async () => {
      const { problems, experiment, shape } = await readExperiment(`${DIRECTORY}/${name}`, PROGRAMS);
      assert.equal(problems, []);
      assert.ok(experiment !== undefined && shape !== undefined);
    });

    test(`${name}: one repeat in simulation`, async () => {
      const { repeats, figures, isHarmless } = await simulate(name);
      for (const { configuration, isPassed, checks, problems, injections } of repeats) {
        const failed = checks.filter((check) => !check.isPassed);
        assert.ok(isPassed, `${configuration}: ${JSON.stringify(failed)} ${problems}`);
        for (const { id, detectionMs } of injections) {
          assert.is(detectionMs === undefined, isHarmless, `the detection of ${id}`);
        }
      }
      assert.ok(figures.some(({ measure }) => measure === 'duration'));
    }, { timeoutMs: 60_000 });
  }
});
