/** An experiment's file as the commands take it: read, checked, with the shape of its target. */

import { dirname, resolve } from 'node:path';
import {
  checkExperiment, parseExperiment,
  type Experiment, type ExperimentFile, type Problem, type ReadContext, type TargetShape,
} from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import {
  loadFlagParams, parseCommandLine, readBounded, readReason, scan, type Pair, type Settings,
} from '@stci/stcirun/front-end';
import { commandLine, targetShape } from './target.js';

/** A larger file is no experiment, or no trace. */
const FILE_BYTES_MAX = 16 << 20;
/** Problems that are told. */
const PROBLEMS_MAX = 50;

/** What the command line says in place of the file. */
export interface Overrides {
  readonly repeats?: number | undefined;
  readonly seed?: number | undefined;
  /** Of `--mca`: added to the target's options. */
  readonly mca?: readonly Pair[] | undefined;
}

export interface ReadExperiment {
  /** As the user wrote it. */
  readonly file: string;
  readonly text: string;
  /** Undefined: nothing can be said of it, for its problems. */
  readonly experiment: Experiment | undefined;
  readonly shape: TargetShape | undefined;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
}

export interface LoadedExperiment extends ReadExperiment {
  readonly experiment: Experiment;
  readonly shape: TargetShape;
}

/** Finds the shape of a target; the simulated ones have another. */
export type ShapeOf = (experiment: Experiment, programs: string) => Promise<TargetShape>;

/** Reads a file with all its problems. Throws STCI_EXPERIMENT_INVALID for one that cannot be read at all. */
export async function readExperiment(
  file: string, programs: string, overrides: Overrides = {}, shapeOf: ShapeOf = targetShape,
): Promise<ReadExperiment> {
  const text = readFile(file, file);
  const [read, { kinds }] = await parse(text, file);
  const experiment = read.experiment && overridden(read.experiment, overrides);
  const problems = [...read.problems];
  let shape: TargetShape | undefined;
  if (experiment !== undefined) {
    try {
      shape = await shapeOf(experiment, programs);
      problems.push(...checkExperiment(experiment, shape, { kinds, place: read.place }));
    } catch (thrown) {
      problems.push(problemOf(thrown, read));
    }
  }
  problems.sort(({ place: a }, { place: b }) => a.line - b.line || a.column - b.column);
  return { file, text, experiment, shape, problems };
}

/** Again with the kinds of the plugins that the target's options name, if there are any. */
async function parse(text: string, file: string): Promise<readonly [ExperimentFile, ReadContext]> {
  const context = readContext(file, await loadFlagParams({}, undefined));
  const read = parseExperiment(text, file, context);
  const { experiment } = read;
  if (experiment === undefined || !experiment.target.options.some((word) => /^--plugin(?:=|$)/u.test(word))) {
    return [read, context];
  }
  try {
    const line = await parseCommandLine(commandLine(experiment));
    const mca = line.kind === 'run' ? line.request.mca.filter(({ key }) => key.startsWith('plugin.')) : [];
    const more = readContext(file, await loadFlagParams({ mca }, undefined, 'finject'));
    return [parseExperiment(text, file, more), more];
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return [read, context]; // What is wrong with the options is told when the target's shape is found.
  }
}

/** Loads an experiment that can be run. Throws STCI_EXPERIMENT_INVALID with all its problems. */
export async function loadExperiment(...of: Parameters<typeof readExperiment>): Promise<LoadedExperiment> {
  const read = await readExperiment(...of);
  const { experiment, shape, problems } = read;
  if (problems.length > 0 || experiment === undefined || shape === undefined) {
    throw new StciError('STCI_EXPERIMENT_INVALID', problemsText(problems));
  }
  return { ...read, experiment, shape };
}

export function problemsText(problems: readonly Problem[]): string {
  const lines = problems.slice(0, PROBLEMS_MAX).map(({ place, text }) =>
    `${place.file}:${place.line}:${place.column}: ${text}`);
  const rest = problems.length - lines.length;
  const head = lines.length > 1 ? [`${problems.length} problems`] : [];
  return [...head, ...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('\n');
}

function overridden(experiment: Experiment, { repeats, seed, mca = [] }: Overrides): Experiment {
  const { target } = experiment;
  const options = [...target.options, ...mca.flatMap(({ key, value }) => ['--mca', `${key}=${value}`])];
  return {
    ...experiment,
    repeats: repeats ?? experiment.repeats,
    seed: seed ?? experiment.seed,
    target: { ...target, options },
  };
}

/** The target's own errors stand where the target does. */
function problemOf(thrown: unknown, { place }: ExperimentFile): Problem {
  if (!(thrown instanceof StciError)) throw thrown;
  return { place: place('target'), text: thrown.message };
}

export function readContext(file: string, { params, registry, composition }: Settings): ReadContext {
  const scope = composition.scope('finject', params, createNodePlatform());
  return {
    kinds: new Map(registry.components('fault').map(({ name }) => [name, scope.fault(name)])),
    splitTarget,
    readTrace: (path) => readFile(resolve(dirname(file), path), path),
  };
}

/** Options of the first program; the rest, further programs included. */
function splitTarget(words: readonly string[]): ReturnType<ReadContext['splitTarget']> {
  const colon = words.indexOf(':');
  const end = colon < 0 ? words.length : colon;
  const at = end - (scan(words)[0]?.command.length ?? 0);
  const options = words.slice(0, at);
  return { options: options.at(-1) === '--' ? options.slice(0, -1) : options, program: words.slice(at) };
}

function readFile(path: string, name: string): string {
  try {
    return readBounded(path, FILE_BYTES_MAX);
  } catch (thrown) {
    throw new StciError('STCI_EXPERIMENT_INVALID', `${name} cannot be read: ${readReason(thrown)}.`);
  }
}
