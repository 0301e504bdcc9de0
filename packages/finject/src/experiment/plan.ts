/**
 * The schedule of each repeat, drawn from the seed alone. Repeats of different configurations take turns, so that what
 * changes in the course of a run concerns all alike; those with the same number have the same draws.
 */

import { hostNumbers, keepSet, type KeepSet } from './candidates.js';
import type { Experiment, FaultEntry, PlannedInjection, RepeatPlan, TargetShape } from './contracts.js';
import { Timing, leavesOf, type Timed } from './timing.js';
import { drawVictims, type Shortage } from './victims.js';

/** A repeat whose plan has injections for which there are too few victims. */
export interface RepeatShortage extends Shortage {
  readonly plan: RepeatPlan;
}

export interface Planned {
  readonly plans: readonly RepeatPlan[];
  readonly shortages: readonly RepeatShortage[];
}

/** The shape of a configuration's target; the empty name: there are none. */
export function shapeOf(shape: TargetShape, configuration: string): TargetShape {
  return shape.configurations?.[configuration] ?? shape;
}

/** The schedule of each repeat, of an experiment that was checked: all injections have their victims. */
export function planRepeats(experiment: Experiment, shape: TargetShape): RepeatPlan[] {
  return [...planAll(experiment, shape).plans];
}

/** The same of any experiment, with what is wrong. */
export function planAll(experiment: Experiment, shape: TargetShape): Planned {
  const plans: RepeatPlan[] = [];
  const shortages: RepeatShortage[] = [];
  const names = experiment.configurations.length === 0 ? [''] : experiment.configurations.map(({ name }) => name);
  const targets = names.map((configuration) => {
    const own = shapeOf(shape, configuration);
    return { configuration, shape: own, keep: keepSet(experiment, own) };
  });
  for (let number = 1; number <= experiment.repeats; number++) {
    for (const target of targets) {
      const { plan, ...planned } = planRepeat(experiment, { ...target, number, repeat: plans.length + 1 });
      plans.push(plan);
      shortages.push(...planned.shortages.map((one) => ({ ...one, plan })));
    }
  }
  return { plans, shortages };
}

interface RepeatInit extends Pick<RepeatPlan, 'repeat' | 'number' | 'configuration'> {
  readonly shape: TargetShape;
  readonly keep: KeepSet;
}

function planRepeat(experiment: Experiment, init: RepeatInit): { plan: RepeatPlan; shortages: readonly Shortage[] } {
  const { seed, keepAlive } = experiment;
  const { configuration, shape, keep, repeat, number } = init;
  const faults = experiment.faults.filter((fault) => fault.configurations?.includes(configuration) ?? true);
  const timing = new Timing({ seed, number, repeat });
  let timed: ReadonlyMap<string, readonly Timed[]> = new Map();
  for (const fault of faults) timed = timing.expand(fault);
  const leaves = leavesOf(faults);
  const counts = new Map([...timed].map(([name, list]) => [name, list.length]));
  const { victims, shortages } = drawVictims(leaves, { seed, repeat: number, shape, keep, counts });
  const injectionsOf = ({ name }: FaultEntry): PlannedInjection[] =>
    (timed.get(name) ?? []).map(({ startMs: _start, endMs: _end, ...injection }, index) =>
      ({ ...injection, victims: victims.get(name)?.[index] ?? [] }));
  const plan: RepeatPlan = {
    repeat,
    number,
    configuration,
    keep: { ranks: keepAlive.ranks, hosts: hostNumbers(keepAlive.hosts, shape) },
    injections: leaves.flatMap(injectionsOf),
  };
  return { plan, shortages };
}
