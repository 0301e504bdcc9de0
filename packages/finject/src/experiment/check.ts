/**
 * What is wrong with an experiment once the target's hosts and ranks are known: victims that are not there, or that are
 * to be kept alive, times after the end, too many victims. The schedule is drawn as it will be: what is accepted has
 * all its victims in each repeat.
 */

import { formatDuration } from '@stci/core';
import type { FaultModule } from '@stci/interface';
import { ShapeChecks } from './check-shape.js';
import { timeProblems } from './check-times.js';
import type { Experiment, ExperimentFile, FaultEntry, PlannedInjection, Problem, TargetShape } from './contracts.js';
import { victimKey } from './candidates.js';
import { repeatName } from './names.js';
import { planAll, shapeOf, type Planned } from './plan.js';
import { leavesOf } from './timing.js';
import { dependencies } from './victims.js';

/** Injections of a whole run, at most; and its repeats. */
export const INJECTIONS_MAX = 1_000_000;

export interface CheckContext {
  readonly kinds: ReadonlyMap<string, FaultModule>;
  readonly place: ExperimentFile['place'];
}

type Tell = (path: readonly (string | number)[], text: string) => void;

/** `experiment`: also one without the faults that have problems already. In the order of the file. */
export function checkExperiment(experiment: Experiment, shape: TargetShape, context: CheckContext): Problem[] {
  const found = new Map<string, Problem>();
  // Faults of the file that have a problem: the schedule is drawn without them.
  const wrong = new Set<string | number | undefined>();
  const tell: Tell = (path, text) => {
    if (path[0] === 'faults') wrong.add(path[1]);
    const place = context.place(...path);
    found.set(`${place.line}:${place.column}:${text}`, { place, text });
  };
  timeProblems(experiment, tell);
  const names = experiment.configurations.length === 0 ? [''] : experiment.configurations.map(({ name }) => name);
  for (const name of names) {
    const own = shapeOf(shape, name);
    // Of other hosts or ranks than the others have.
    const where = own === shape ? '' : ` in configuration ${name}`;
    new ShapeChecks(experiment, { shape: own, configuration: name, where, tell }).run();
  }
  const repeats = experiment.repeats * names.length;
  const total = repeats * injectionsOf(experiment.faults);
  if (repeats > INJECTIONS_MAX) {
    tell(['repeats'], `The run has ${repeats} repeats; at most ${INJECTIONS_MAX} are possible. Lower repeats, or have `
      + 'fewer configurations.');
  } else if (total > INJECTIONS_MAX) {
    tell(['repeats'], `The run has ${total} injections; at most ${INJECTIONS_MAX} are possible. Lower repeats or `
      + 'count.');
  } else {
    const right = { ...experiment, faults: experiment.faults.filter(({ path }) => !wrong.has(path?.[1] ?? '')) };
    planProblems(right, planAll(right, shape), context.kinds, tell);
  }
  return [...found.values()].sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
}

function injectionsOf(faults: readonly FaultEntry[]): number {
  return faults.reduce((sum, { count, parts }) => sum + count * (parts.length === 0 ? 1 : injectionsOf(parts)), 0);
}

function planProblems(
  experiment: Experiment, { plans, shortages }: Planned, kinds: CheckContext['kinds'], tell: Tell,
): void {
  const entries = new Map(leavesOf(experiment.faults).map((entry) => [entry.name, entry]));
  const pathTo = (name: string, ...keys: readonly string[]): readonly (string | number)[] =>
    [...(entries.get(name)?.path ?? []), ...keys];
  const told = new Set<string>();
  const counts = new Map<string, number>();
  for (const { fault } of shortages) counts.set(fault, (counts.get(fault) ?? 0) + 1);
  for (const { fault, number, plan, text } of shortages) {
    // Of a fault whose victims depend on one that has a problem itself nothing is said.
    const entry = entries.get(fault);
    const isClear = entry !== undefined && dependencies(entry).every((one) => entries.has(one));
    if (told.has(fault) || !isClear) continue;
    told.add(fault);
    const others = (counts.get(fault) ?? 1) - 1;
    const more = others === 0 ? '' : `, and ${others} more`;
    tell(pathTo(fault, 'who'), `Injection ${number} of ${fault} in ${repeatName(plan)}${more}: ${text}. Choose `
      + 'fewer, or widen who.');
  }
  for (const plan of plans) {
    const { injections } = plan;
    for (const injection of injections) {
      const problem = told.has(injection.fault) ? undefined : problemOfKind(injection, kinds);
      if (problem === undefined) continue;
      told.add(injection.fault);
      tell(pathTo(injection.fault), `${injection.fault}: ${problem.replace(/\.$/, '')}.`);
    }
    const victims = new Set(injections.flatMap((injection) => injection.victims.map(victimKey)));
    if (victims.size > experiment.victimsMax && !told.has('')) {
      told.add('');
      tell(['victims-max'], `There are ${victims.size} victims in ${repeatName(plan)}, but victims-max is `
        + `${experiment.victimsMax}. Raise it, or choose fewer.`);
    }
  }
  const all = plans.flatMap(({ injections }) => injections);
  lateFaults(experiment, all, (name, text) => tell(pathTo(name, 'when'), text));
}

/** What the kind itself has against it. */
function problemOfKind({ kind, args, victims, durationMs }: PlannedInjection, kinds: CheckContext['kinds']):
string | undefined {
  const module = kinds.get(kind);
  for (const victim of victims) {
    const problem = module?.problemOf({ args, victim, durationMs });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Faults of which no injection comes before the end of any repeat, however the times were drawn. */
function lateFaults(
  { timeLimitMs, warmUpMs }: Experiment, injections: readonly PlannedInjection[],
  tell: (fault: string, text: string) => void,
): void {
  const leastMs = new Map<string, number>();
  for (const { fault, follows, delayMs } of injections) {
    if (follows === undefined) leastMs.set(fault, Math.min(delayMs, leastMs.get(fault) ?? Infinity));
  }
  for (const [fault, ms] of leastMs) {
    if (ms + warmUpMs < timeLimitMs) continue;
    tell(fault, `No injection of ${fault} comes before the end of its repeat: the earliest of all repeats is `
      + `${formatDuration(ms)} after its trigger, and time-limit is ${formatDuration(timeLimitMs)}. Shorten its times, `
      + 'or raise time-limit.');
  }
}
