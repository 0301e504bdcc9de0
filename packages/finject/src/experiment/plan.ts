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
  readonly repeat: number;
  readonly configuration: string;
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
  for (let repeat = 1; repeat <= experiment.repeats; repeat++) {
    for (const target of targets) {
      const number = plans.length + 1;
      const planned = planRepeat(experiment, { ...target, repeat, number });
      plans.push(planned.plan);
      shortages.push(...planned.shortages.map((one) =>
        ({ ...one, repeat: number, configuration: target.configuration })));
    }
  }
  return { plans, shortages };
}

interface RepeatInit {
  readonly configuration: string;
  readonly shape: TargetShape;
  readonly keep: KeepSet;
  /** Within the configuration. */
  readonly repeat: number;
  /** Through all configurations. */
  readonly number: number;
}

function planRepeat(experiment: Experiment, init: RepeatInit): { plan: RepeatPlan; shortages: readonly Shortage[] } {
  const { seed, keepAlive } = experiment;
  const { configuration, shape, keep, repeat, number } = init;
  const faults = experiment.faults.filter((fault) => fault.configurations?.includes(configuration) ?? true);
  const timing = new Timing({ seed, repeat, repeatName: number });
  let timed: ReadonlyMap<string, readonly Timed[]> = new Map();
  for (const fault of faults) timed = timing.expand(fault);
  const leaves = leavesOf(faults);
  const counts = new Map([...timed].map(([name, list]) => [name, list.length]));
  const { victims, shortages } = drawVictims(leaves, { seed, repeat, shape, keep, counts });
  const injectionsOf = ({ name }: FaultEntry): PlannedInjection[] =>
    (timed.get(name) ?? []).map(({ startMs: _start, endMs: _end, ...injection }, index) =>
      ({ ...injection, victims: victims.get(name)?.[index] ?? [] }));
  const plan: RepeatPlan = {
    repeat: number,
    configuration,
    keep: { ranks: keepAlive.ranks, hosts: hostNumbers(keepAlive.hosts, shape) },
    injections: leaves.flatMap(injectionsOf),
  };
  return { plan, shortages };
}
