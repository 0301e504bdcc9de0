/** `finject replay`: the schedule of a record again, in the way of its run or in the other one. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { counted } from '@stci/core';
import {
  INJECTIONS_MAX, replayProblem, type HistoryRecord, type RepeatPlan, type TargetShape,
} from '@stci/finject/experiment';
import { StciError } from '@stci/interface';
import { StciCommand } from '@stci/stcirun/front-end';
import { runFlags, runSource, shapeFor } from './run-commands.js';
import { readRun, RUN_FILES } from './run-files.js';

type RunRecord = Extract<HistoryRecord, { readonly type: 'run' }>;

export class ReplayCommand extends StciCommand {
  static override readonly summary = 'runs an experiment again by its record: the same schedule';
  static override readonly synopsis = 'RUN [--simulate | --real] [--output DIR] [--quiet] [--json]';
  static override readonly page = 'finject.md#in-simulation';
  static override readonly details = `
RUN is the directory of a run. Its record has the experiment and the schedule of each repeat
that was begun; these are run again, whatever has become of the experiment's file. A simulated
run is simulated again, and gives the same record. The target must have as many hosts and
ranks as it had, at the same places; the hosts may be others.

Example:
  finject replay finject-runs/kill-one-rank-20261122-130501
`;

  static override args = { run: Args.string({ ignoreStdin: true, description: 'directory of a run' }) };
  static override flags = {
    simulate: Flags.boolean({ description: 'a real run, in simulation' }),
    real: Flags.boolean({ description: 'a simulated run, on hosts' }),
    ...runFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(ReplayCommand);
    if (args.run === undefined) {
      throw new StciError('STCI_USAGE', 'No run is named. Write: finject replay DIRECTORY. See finject help replay.');
    }
    if (flags.simulate && flags.real) {
      throw new StciError('STCI_USAGE', '--simulate and --real cannot be combined: give one of them.');
    }
    const { first, plans } = readPlans(args.run);
    const simulate = flags.simulate || (first.isSimulated && !flags.real);
    const programs = this.config.root;
    const shape = await shapeFor(simulate)(first.experiment, programs).catch((thrown: unknown) => {
      if (!simulate || first.isSimulated || !(thrown instanceof StciError)) throw thrown;
      const remedy = `A record is run as it is: change ${first.file}, and write: finject run --simulate ${first.file}`;
      throw new StciError(thrown.code, `${args.run} cannot be simulated: ${thrown.message} ${remedy}`);
    });
    for (const name of new Set(plans.map(({ configuration }) => configuration))) {
      const difference = differenceOf(shapeOf(first.shape, name), shapeOf(shape, name));
      if (difference === undefined) continue;
      const remedy = `Give it what it had, or make another schedule: finject run ${first.file}`;
      throw new StciError('STCI_USAGE', `${args.run} cannot be run again: ${difference}. ${remedy}`);
    }
    return runSource({ ...first, plans }, { ...flags, simulate }, programs);
  }
}

/** Throws STCI_HISTORY_INVALID. */
function readPlans(run: string): { readonly first: RunRecord; readonly plans: readonly RepeatPlan[] } {
  const history = readRun(run, ['run', 'repeat']);
  const [first] = history.records;
  if (first?.type !== 'run') {
    throw new StciError('STCI_HISTORY_INVALID', `${run}: ${history.problems?.[0] ?? 'the record is empty'}.`);
  }
  const damaged = (problem: string): StciError =>
    new StciError('STCI_HISTORY_INVALID', `${run} cannot be run again: ${problem}. The record is damaged.`);
  for (const [index, record] of history.records.entries()) {
    const problem = replayProblem(record);
    if (problem !== undefined) throw damaged(`line ${history.lines[index]} of ${RUN_FILES.history} has ${problem}`);
  }
  const plans = history.records.flatMap((record) => (record.type === 'repeat' ? [record.plan] : []));
  const injections = plans.reduce((sum, plan) => sum + plan.injections.length, 0);
  if (injections > INJECTIONS_MAX) throw damaged(`it has ${injections} injections; at most ${INJECTIONS_MAX}`);
  if (plans.length === 0) {
    throw new StciError('STCI_HISTORY_INVALID',
      `${run} has no repeat that was begun, thus no schedule. Write: finject run ${first.file}`);
  }
  const { configurations } = first.experiment;
  const names = configurations.length === 0 ? [''] : configurations.map(({ name }) => name);
  const unknown = plans.find(({ configuration }) => !names.includes(configuration));
  if (unknown !== undefined) throw damaged(`the experiment has no configuration '${unknown.configuration}'`);
  return { first, plans };
}

function shapeOf(shape: TargetShape, configuration: string): TargetShape {
  const { configurations = {} } = shape;
  return (Object.hasOwn(configurations, configuration) ? configurations[configuration] : undefined) ?? shape;
}

/** Why a schedule for a target of shape `was` means something else for one of shape `is`; undefined: it does not. */
function differenceOf(was: TargetShape, is: TargetShape): string | undefined {
  const sizeOf = ({ hosts, hostOfRank }: TargetShape): string =>
    `${counted(hostOfRank.length, 'rank')} on ${counted(hosts.length, 'host')}`;
  if (sizeOf(was) !== sizeOf(is)) return `its schedule is for ${sizeOf(was)}, and the target now has ${sizeOf(is)}`;
  const moved = was.hostOfRank.findIndex((host, rank) => host !== is.hostOfRank[rank]);
  if (moved < 0) return undefined;
  const [from, to] = [was.hostOfRank[moved], is.hostOfRank[moved]];
  return `rank ${moved} was on the target's host number ${from}, and is now on number ${to}`;
}
