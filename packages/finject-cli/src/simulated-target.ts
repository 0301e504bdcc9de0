/**
 * The target of an experiment that is simulated: stcirun's options as for a real one, with the simulation's programs,
 * environment and launcher. Parameters are those of the file alone, so that a simulation is the same on each machine.
 */

import { leavesOf, type Configuration, type Experiment, type TargetShape } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { addComponents, checkSimulated, type SimulatedTarget } from '@stci/swarm';
import { prepareTarget, targetShape, type PreparedTarget } from './target.js';

/** Options that need this machine → why. */
const REFUSED: readonly (readonly [keyof PreparedTarget['request'], string, string])[] = [
  ['am', '--am', 'a simulation reads no files of parameters: give them by --mca'],
];

/** Hosts are those of the file, also where it is simulated inside of a batch job. */
const NOT_OF_BATCH_JOB = ['--mca', 'allocation=^lsf,pbs,slurm'];

/** The experiment with what stands for its program. Throws STCI_EXPERIMENT_INVALID. */
export function simulated(experiment: Experiment): Experiment {
  const { target } = experiment;
  if (target.session !== undefined) {
    throw new StciError('STCI_EXPERIMENT_INVALID',
      `target: session ${target.session} cannot be simulated. Leave it out: each repeat then has its own.`);
  }
  const real = leavesOf(experiment.faults).find(({ kind }) => kind === 'network');
  if (real !== undefined) {
    throw new StciError('STCI_EXPERIMENT_INVALID', `fault ${real.name}: kind network cannot be simulated, as the `
      + 'simulation has no packets. Use kind partition or link, whose links are those that are simulated.');
  }
  const isNamed = target.options.some((word) => /(?:^|=)allocation(?:=|$)/u.test(word));
  const options = [...(isNamed ? [] : NOT_OF_BATCH_JOB), ...target.options];
  // What stands for the target's program stands for those of configurations.
  const configurations = experiment.configurations.map(({ program, ...configuration }) =>
    ({ ...configuration, ...(program !== undefined && target.simulated === undefined && { program }) }));
  const program = target.simulated ?? target.program;
  return { ...experiment, configurations, target: { ...target, options, program } };
}

/** What the plan needs; its programs are those of the simulation. Throws StciError. */
export async function simulatedShape(experiment: Experiment, programs: string): Promise<TargetShape> {
  const one = simulated(experiment);
  await simulatedTargets(one, programs);
  return targetShape(one, programs);
}

/** `experiment`: as `simulated` returns it. Throws StciError. */
export async function simulatedTarget(
  experiment: Experiment, programs: string, configuration?: Configuration,
): Promise<SimulatedTarget> {
  const { request, planned, plugins } = await prepareTarget(experiment, programs, configuration);
  for (const [key, option, why] of REFUSED) {
    if ((request[key] as readonly unknown[]).length > 0) throw new StciError('STCI_USAGE', `${option}: ${why}.`);
  }
  addComponents(plugins.flatMap(({ components }) => components));
  const { hosts, ...spec } = planned.spec;
  checkSimulated(spec);
  const isOfThisMachine = (key: string): boolean => /^(?:launcherproc|plugin|allocation)(?:\.|$)/u.test(key);
  const own = request.mca.filter(({ key }) => !isOfThisMachine(key));
  const settings = own.map(({ key, value }) => [key, value] as const);
  return {
    hosts,
    spares: planned.spares,
    spec: {
      ...spec,
      // What this machine has is not there.
      apps: spec.apps.map(({ wdir: _here, ...app }) => app),
      env: { PATH: '/bin:/usr/bin' },
      wdir: '/',
    },
    label: request.programs.map(({ program, args }) => [program, ...args].join(' ')).join(' : '),
    settings: Object.fromEntries(settings),
  };
}

/** Target of each configuration, by its name; empty: the experiment has none. */
export async function simulatedTargets(
  experiment: Experiment, programs: string,
): Promise<ReadonlyMap<string, SimulatedTarget>> {
  const { configurations } = experiment;
  const all: readonly (Configuration | undefined)[] = configurations.length === 0 ? [undefined] : configurations;
  const targets = new Map<string, SimulatedTarget>();
  for (const one of all) targets.set(one?.name ?? '', await simulatedTarget(experiment, programs, one));
  return targets;
}
