/** `finject run` and `probe`: experiments on this machine and its hosts, or in simulation. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { planRepeats, REPEATS_MAX, type RunFacts } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { commonFlags, parseCount, parsePair, repeated, StciCommand, type Pair } from '@stci/stcirun/front-end';
import { loadExperiment, type ShapeOf } from './experiment-file.js';
import { defaultDirectory } from './run-directory.js';
import type { Given, RunSource } from './run-source.js';
import { runExperiment } from './run-experiment.js';
import { SessionDriver } from './session-driver.js';
import { prepareTarget, targetShape } from './target.js';
import { versions } from './version.js';

export const runFlags = {
  output: Flags.string({ helpValue: 'DIR', description: 'directory of the record; default finject-runs/NAME-TIME' }),
  quiet: commonFlags.quiet,
  json: Flags.boolean({ description: "the record's lines on standard output, and nothing else" }),
};

const simulate = Flags.boolean({ description: 'in simulation, at a virtual clock: nothing is started' });

const mca = Flags.custom<Pair>({ parse: async (text) => parsePair('--mca', text) })({
  ...repeated, helpValue: 'KEY=VALUE', description: "parameter, added to the target's options",
});

export const seedFlag = Flags.custom<number>({
  parse: async (text) => parseSeed(text), helpValue: 'S', description: "in place of the file's",
})();

/** On sessions of this machine and its hosts; the exit code. */
async function runOnSessions(source: RunSource, given: Given, programs: string): Promise<number> {
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

/** Finds the shape of the target. What is of the simulation is loaded where it is needed: the rest starts quicker. */
export function shapeFor(simulate: boolean): ShapeOf {
  if (!simulate) return targetShape;
  return async (experiment, programs) => {
    const { simulatedShape } = await import('./simulated-target.js');
    return simulatedShape(experiment, programs);
  };
}

/** The exit code. Throws StciError. */
export async function runSource(
  source: RunSource, given: Given & { readonly simulate: boolean }, programs: string,
): Promise<number> {
  if (!given.simulate) return runOnSessions(source, given, programs);
  const { runInSimulation } = await import('./simulate.js');
  return runInSimulation(source, given, programs);
}

/** As many as a file may have. */
function parseRepeats(text: string): number {
  const repeats = parseCount('--repeats', text);
  if (repeats <= REPEATS_MAX) return repeats;
  throw new StciError('STCI_USAGE', `--repeats: expected at most ${REPEATS_MAX}, got '${text}'.`);
}

/** Throws STCI_USAGE. */
function parseSeed(text: string): number {
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
  static override readonly page = 'finject.md#the-record';
  static override readonly details = `
Shows the target's output, faults, what the runtime finds; ends with a table of the repeats.
Exit code: 0 if all repeats passed, 204 if not; 130 after Ctrl-C, 143 after 'finject abort'.
Ctrl-C undoes all faults, ends the target and keeps the record; once more: faster.

Examples:
  finject run experiments/kill-one-rank.yaml
  finject run storm.yaml --repeats 100 --seed 7 --output results/storm
`;

  static override args = fileArgs;
  static override flags = {
    repeats: Flags.custom<number>({
      parse: async (text) => parseRepeats(text), helpValue: 'N', description: "in place of the file's",
    })(),
    seed: seedFlag,
    mca,
    simulate,
    ...runFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(RunCommand);
    const programs = this.config.root;
    const loaded = await loadExperiment(fileArgument(args.file, 'run'), programs, flags, shapeFor(flags.simulate));
    const plans = planRepeats(loaded.experiment, loaded.shape);
    return runSource({ ...loaded, plans, isGolden: false }, flags, programs);
  }
}

/** Checks that mean nothing without faults. */
const OF_FAULTS: readonly string[] = ['exit-code', 'failed-ranks', 'detected', 'injected'];

export class ProbeCommand extends StciCommand {
  static override readonly summary = 'runs an experiment once without faults: the golden run';
  static override readonly synopsis = 'FILE [--simulate] [--output DIR] [--mca KEY=VALUE]... [--quiet] [--json]';
  static override readonly page = 'finject.md#commands';
  static override readonly details = `
One repeat of each configuration, with the file's checks, but those that expect faults:
exit-code, failed-ranks, detected, injected.

Example:
  finject probe experiments/kill-one-rank.yaml
`;

  static override args = fileArgs;
  static override flags = { mca, simulate, ...runFlags };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(ProbeCommand);
    const programs = this.config.root;
    const file = fileArgument(args.file, 'probe');
    const loaded = await loadExperiment(file, programs, { ...flags, repeats: 1 }, shapeFor(flags.simulate));
    const checks = loaded.experiment.checks.filter(({ type }) => !OF_FAULTS.includes(type));
    const experiment = { ...loaded.experiment, checks };
    const plans = planRepeats({ ...experiment, faults: [] }, loaded.shape);
    return runSource({ ...loaded, experiment, plans, isGolden: true }, flags, programs);
  }
}
