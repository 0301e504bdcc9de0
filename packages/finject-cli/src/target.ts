/**
 * The target of an experiment: stcirun's own parser, host list and mapping, without a launch. What is wrong with it is
 * told with the file's place.
 */

import { bootPlanOf, placements } from '@stci/core';
import { treeShape, type Configuration, type Experiment, type TargetShape } from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import {
  callerOf, FLAG_NAMES, OPTION_FACTS, openSession, optionName, parseCommandLine, planJob, prepare, scan,
  watchCommand, type FlagName, type OpenedSession, type PlannedJob, type Prepared, type RunRequest,
} from '@stci/stcirun/front-end';

export interface PreparedTarget extends Prepared {
  readonly planned: PlannedJob;
  /** Session that stays, where the target names one. */
  readonly session: OpenedSession | undefined;
}

/** Options of stcirun that mean nothing here. */
const OTHERS: readonly FlagName[] = ['alloc', 'display', 'dry-run', 'forward-signals', 'detach', 'help', 'version'];
const OUTPUT_GROUP = OPTION_FACTS.output.group;

/** Words as on stcirun's command line. */
export function commandLine({ target, hosts }: Experiment, configuration?: Configuration): readonly string[] {
  const names = configuration?.hosts ?? hosts;
  return [
    ...target.options,
    ...(configuration?.options ?? []),
    ...(names.length === 0 ? [] : ['--host', names.join(',')]),
    '--session', target.session ?? 'none',
    '--', ...(configuration?.program ?? target.program),
  ];
}

/** Throws STCI_USAGE where both the file and the options name hosts: stcirun would take all of them. */
function checkHosts({ target, hosts }: Experiment, configuration?: Configuration): void {
  if ((configuration?.hosts ?? hosts).length === 0) return;
  const given = scan([...target.options, ...(configuration?.options ?? []), '--', 'program']);
  const option = given.flatMap(({ options }) => options).find((one) => /^--host(?:file)?(?:=|$)/u.test(one));
  if (option === undefined) return;
  const name = option.replace(/=.*$/su, '');
  throw new StciError('STCI_USAGE', `${name}: the file's hosts are given, too. Keep one of them.`);
}

/** Throws STCI_USAGE for options that are for who shows a job, or that leave it. */
function checkOptions(words: readonly string[]): void {
  for (const { options } of scan(words)) {
    for (const option of options) {
      const name = option.replace(/^--(no-)?|=.*$/gsu, '') as FlagName;
      if (!FLAG_NAMES.includes(name)) continue;
      const isOutput = OPTION_FACTS[name].group === OUTPUT_GROUP && option !== '--stdin=none';
      if (!isOutput && !OTHERS.includes(name)) continue;
      const why = isOutput ? 'the record has all output, and ranks get no input'
        : name === 'alloc' ? "run finject inside of a Slurm job, or in a session of 'stci start --alloc'"
          : 'it means nothing in an experiment';
      throw new StciError('STCI_USAGE', `${optionName(name)}: ${why}. Leave it out.`);
    }
  }
}

/** Everything about a target that is decided before it is started. Throws StciError. */
export async function prepareTarget(
  experiment: Experiment, programs: string, configuration?: Configuration,
): Promise<PreparedTarget> {
  const words = commandLine(experiment, configuration);
  try {
    if (experiment.target.session === undefined) checkSession(experiment.target.options);
    checkHosts(experiment, configuration);
    checkOptions(words);
    const line = await parseCommandLine(words);
    if (line.kind !== 'run') throw new StciError('STCI_USAGE', 'no program to run');
    const withoutInput = (request: RunRequest): RunRequest =>
      ({ ...request, stdin: { to: 'none' }, quiet: true, verbose: false });
    const prepared = await prepare(withoutInput(line.request), callerOf(programs), async (defaults) =>
      withoutInput(await line.withDefaults(defaults)));
    await watchCommand('finject', prepared.params);
    const session = await openSession(prepared.request, prepared);
    return { ...prepared, session, planned: planJob(prepared, session?.status.hosts) };
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    const place = configuration === undefined ? 'target' : `configuration ${configuration.name}`;
    throw new StciError(thrown.code, `${place}: ${thrown.message}`, { cause: thrown });
  }
}

function checkSession(options: readonly string[]): void {
  if (!options.some((word) => /^--?session(?:=|$)/u.test(word))) return;
  throw new StciError('STCI_USAGE', "--session is written as 'session: NAME' beside the target's program.");
}

/** What the plan needs. Throws StciError. */
export async function targetShape(experiment: Experiment, programs: string): Promise<TargetShape> {
  const configurations: [string, TargetShape][] = [];
  const shape = await shapeOf(experiment, programs);
  for (const configuration of experiment.configurations) {
    const { hosts, options, program } = configuration;
    if (hosts === undefined && program === undefined && options.length === 0) continue;
    configurations.push([configuration.name, await shapeOf(experiment, programs, configuration)]);
  }
  return configurations.length === 0 ? shape : { ...shape, configurations: Object.fromEntries(configurations) };
}

async function shapeOf(...of: Parameters<typeof prepareTarget>): Promise<TargetShape> {
  const { planned, composition, params, platform, session } = await prepareTarget(...of);
  session?.client.close();
  const { spec, map } = planned;
  const hosts = spec.hosts.map(({ name }) => name);
  const scope = composition.scope('finject', params, platform);
  const hostOfRank = [...placements(map)].map(({ host }) => host);
  return { hosts, hostOfRank, ...treeShape(bootPlanOf(scope.launcher(), spec.hosts)) };
}
