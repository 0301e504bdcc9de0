/** `finject run`, `probe` and `replay`: experiments on this machine and its hosts. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {
  planRepeats, readHistory, replayProblem, REPEATS_MAX, type History, type RunFacts,
} from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { paramFlags, parseCount, readBounded, readReason, StciCommand } from '@stci/stcirun/front-end';
import { loadExperiment, type Overrides } from './experiment-file.js';
import { RUN_FILES } from './run-files.js';
import { defaultDirectory } from './run-directory.js';
import type { Given, RunSource } from './run-source.js';
import { runExperiment } from './run-experiment.js';
import { SessionDriver } from './session-driver.js';
import { prepareTarget } from './target.js';
import { versions } from './version.js';

export const runFlags = {
  output: Flags.string(),
  quiet: Flags.boolean({ char: 'q' }),
  json: Flags.boolean(),
};

export const RUN_OPTIONS = `  --output DIR      directory of the record; default finject-runs/NAME-TIME
  --quiet           print errors only
  --json            the record's lines on standard output, and nothing else
`;

/** On sessions of this machine and its hosts; the exit code. */
export async function runOnSessions(source: RunSource, given: Given, programs: string): Promise<number> {
  const { experiment, plans } = source;
  const { params, session } = await prepareTarget(experiment, programs, experiment.configurations[0]);
  session?.client.close();
  const facts: RunFacts = {
    file: source.file, text: source.text, shape: source.shape, isSimulated: false, isGolden: source.isGolden,
    versions: versions(),
    parameters: params.entries().map(({ name, value, source: from }) => ({ name, value, source: from })),
  };
  const directory = given.output ?? experiment.outputs.directory ?? defaultDirectory(experiment.name, Date.now());
  return runExperiment({
    experiment, plans, facts, directory, isQuiet: given.quiet, isJson: given.json,
    driver: (init) => new SessionDriver({ ...init, experiment, programs }),
  });
}

/** As many as a file may have. */
function parseRepeats(text: string): number {
  const repeats = parseCount('--repeats', text);
  if (repeats <= REPEATS_MAX) return repeats;
  throw new StciError('STCI_USAGE', `--repeats: expected at most ${REPEATS_MAX}, got '${text}'.`);
}

/** Throws STCI_USAGE. */
export function parseSeed(text: string): number {
  const seed = Number(text);
  if (/^\d+$/u.test(text) && Number.isSafeInteger(seed)) return seed;
  throw new StciError('STCI_USAGE', `--seed: expected an integer from 0 to 2^53 - 1, got '${text}'.`);
}

export const fileArgs = { file: Args.string({ ignoreStdin: true, description: 'experiment file' }) };

/** Throws STCI_USAGE. */
export function fileArgument(file: string | undefined, command: string): string {
  if (file !== undefined) return file;
  const remedy = `Write: finject ${command} FILE. See finject help ${command}.`;
  throw new StciError('STCI_USAGE', `No experiment is named. ${remedy}`);
}

export class RunCommand extends StciCommand {
  static override readonly summary = 'runs an experiment: its repeats, with their faults; records and judges them';
  static override readonly synopsis = 'FILE [--repeats N] [--seed S] [--output DIR] [--mca KEY=VALUE]... [...]';
  static override readonly details = `
  --repeats N       in place of the file's
  --seed S          in place of the file's
  --mca KEY=VALUE   added to the target's options
  --simulate        in simulation, at a virtual clock: nothing is started
${RUN_OPTIONS}
Shows the target's output, faults, what the runtime finds; ends with a table of the repeats.
Exit code: 0 if all repeats passed, 204 if not; 130 after Ctrl-C, 143 after 'finject abort'.
Ctrl-C undoes all faults, ends the target and keeps the record; once more: faster.

Examples:
  finject run experiments/kill-one-rank.yaml
  finject run storm.yaml --repeats 100 --seed 7 --output results/storm
`;

  static override args = fileArgs;
  static override flags = {
    repeats: Flags.custom<number>({ parse: async (text) => parseRepeats(text) })(),
    seed: Flags.custom<number>({ parse: async (text) => parseSeed(text) })(),
    mca: paramFlags.mca,
    simulate: Flags.boolean(),
    ...runFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(RunCommand);
    const programs = this.config.root;
    const file = fileArgument(args.file, 'run');
    if (flags.simulate) return simulate(file, flags, programs);
    const loaded = await loadExperiment(file, programs, flags);
    const plans = planRepeats(loaded.experiment, loaded.shape);
    return runOnSessions({ ...loaded, plans, isGolden: false }, flags, programs);
  }
}

/** Checks that mean nothing without faults. */
const OF_FAULTS: readonly string[] = ['exit-code', 'failed-ranks', 'detected'];

async function simulate(file: string, given: Given & Overrides, programs: string): Promise<number> {
  // Loaded here, so that runs on sessions start quicker.
  const [{ runInSimulation }, { simulatedShape }] =
    await Promise.all([import('./simulate.js'), import('./simulated-target.js')]);
  const loaded = await loadExperiment(file, programs, given, (one) => simulatedShape(one, programs));
  const plans = planRepeats(loaded.experiment, loaded.shape);
  return runInSimulation({ ...loaded, plans, isGolden: false }, given, programs);
}

export class ProbeCommand extends StciCommand {
  static override readonly summary = 'runs an experiment once without faults: the golden run';
  static override readonly synopsis = 'FILE [--output DIR] [--mca KEY=VALUE]... [--quiet] [--json]';
  static override readonly details = `
  --mca KEY=VALUE   added to the target's options
${RUN_OPTIONS}
One repeat of each configuration, with the file's checks, but those that expect faults:
exit-code, failed-ranks, detected.

Example:
  finject probe experiments/kill-one-rank.yaml
`;

  static override args = fileArgs;
  static override flags = { mca: paramFlags.mca, ...runFlags };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(ProbeCommand);
    const programs = this.config.root;
    const loaded = await loadExperiment(fileArgument(args.file, 'probe'), programs, { ...flags, repeats: 1 });
    const checks = loaded.experiment.checks.filter(({ type }) => !OF_FAULTS.includes(type));
    const experiment = { ...loaded.experiment, checks };
    const plans = planRepeats({ ...experiment, faults: [] }, loaded.shape);
    return runOnSessions({ ...loaded, experiment, plans, isGolden: true }, flags, programs);
  }
}

export class ReplayCommand extends StciCommand {
  static override readonly summary = 'runs an experiment again by its record: the same schedule';
  static override readonly synopsis = 'RUN [--output DIR] [--quiet] [--json]';
  static override readonly details = `
${RUN_OPTIONS}
RUN is the directory of a run. Its record has the experiment and the schedule of each repeat
that was begun; these are run again, whatever has become of the experiment's file.

Example:
  finject replay finject-runs/kill-one-rank-20261122-130501
`;

  static override args = { run: Args.string({ ignoreStdin: true, description: 'directory of a run' }) };
  static override flags = runFlags;

  async run(): Promise<number> {
    const { args, flags } = await this.parse(ReplayCommand);
    if (args.run === undefined) {
      throw new StciError('STCI_USAGE', 'No run is named. Write: finject replay DIRECTORY. See finject help replay.');
    }
    const history = readRun(args.run);
    const [first] = history.records;
    if (first?.type !== 'run') {
      throw new StciError('STCI_HISTORY_INVALID', `${args.run}: ${history.problems?.[0] ?? 'the record is empty'}.`);
    }
    if (first.isSimulated) {
      const remedy = `Run it again: finject run --simulate ${first.file}`;
      throw new StciError('STCI_USAGE', `${args.run} was simulated. ${remedy}`);
    }
    for (const record of history.records) {
      const problem = replayProblem(record);
      if (problem === undefined) continue;
      const text = `${args.run} cannot be run again: ${problem}. The record is damaged.`;
      throw new StciError('STCI_HISTORY_INVALID', text);
    }
    const plans = history.records.flatMap((record) => (record.type === 'repeat' ? [record.plan] : []));
    return runOnSessions({ ...first, plans }, flags, this.config.root);
  }
}

/** The longest text that Node.js holds is hardly longer. */
const HISTORY_BYTES_MAX = 500 << 20;

/** The record of a run. Throws STCI_HISTORY_INVALID where there is none. */
export function readRun(directory: string): History {
  const path = join(directory, RUN_FILES.history);
  try {
    return readHistory(directory, readBounded(path, HISTORY_BYTES_MAX));
  } catch (thrown) {
    const remedy = existsSync(path) ? '' : ` Name the directory of a run, which finject run tells as 'record'.`;
    throw new StciError('STCI_HISTORY_INVALID', `${path} cannot be read: ${readReason(thrown)}.${remedy}`);
  }
}
