/** A history, judged: each repeat with its outcome, checks and injections, and figures over all. */

import type { Check } from '../experiment/contracts.js';
import type { History } from '../history/contracts.js';
import { judgeCheck } from './checks.js';
import {
  OUTCOMES, type Figures, type InjectionMeasures, type Outcome, type Proportion, type RepeatSummary, type RunSummary,
} from './contracts.js';
import { coverageOf } from './coverage.js';
import { measure } from './measures.js';
import { outcomeOf, ownFailure } from './outcome.js';
import { repeatsOf, runOf, type RepeatView } from './repeat-view.js';
import { describe, wilson } from './statistics.js';
import type { Within } from './within.js';

/** Whatever state the history is in: of a damaged one, what its records say. */
export function summarize(history: History, within?: Within): RunSummary {
  const run = runOf(history);
  const views = orElse(() => repeatsOf(history), []);
  return summaryOf(history, views, views.map((view) => judgeSafely(view, run?.experiment.checks ?? [], within)));
}

/** Summary of repeats that were judged. `views`: with what was planned and injected. */
export function summaryOf(
  history: History, views: readonly RepeatView[], repeats: readonly RepeatSummary[],
): RunSummary {
  const run = runOf(history);
  const isGolden = run?.isGolden ?? false;
  const isCutOff = history.isCutOff || repeats.length === 0;
  const { name = 'unknown', seed = 0 }: { readonly name?: unknown; readonly seed?: unknown } = run?.experiment ?? {};
  return {
    // An object may have neither a text nor a number: { toString: 0 }.
    name: typeof name === 'object' ? 'unknown' : String(name),
    seed: typeof seed === 'object' ? 0 : Number(seed),
    isGolden, isCutOff,
    isSimulated: run?.isSimulated ?? false,
    repeats,
    outcomes: proportionsOf(repeats),
    figures: orElse(() => figuresOf(repeats), []),
    coverage: orElse(() => coverageOf(views), []),
    isPassed: !isCutOff && repeats.every(({ isPassed }) => isPassed),
  };
}

/** What a damaged record cannot give is left out. */
function orElse<T>(make: () => T, instead: T): T {
  try {
    return make();
  } catch {
    return instead;
  }
}

/** A line of the record may be JSON and lack what it should have: its repeat is lost, the others are not. */
export function judgeSafely(view: RepeatView, checks: readonly Check[], within?: Within): RepeatSummary {
  try {
    return judgeRepeat(view, checks, within);
  } catch (thrown) {
    const { plan: { repeat, number, configuration }, startMs, endMs } = view;
    return {
      repeat, number, configuration, outcome: 'cut-off', isPassed: false, checks: [], injections: [], startMs, endMs,
      exitCode: undefined, falseDetections: [], problems: [`its record is damaged: ${String(thrown)}`],
    };
  }
}

/** Whatever the checks say: such a repeat tells nothing of its faults, or, of the golden run, that it is none. */
const UNSOUND: ReadonlySet<Outcome> = new Set<Outcome>(['cut-off', 'hung', 'failed']);

/** One repeat; `checks` of the experiment. */
export function judgeRepeat(view: RepeatView, checks: readonly Check[], within?: Within): RepeatSummary {
  const measures = measure(view);
  const outcome = outcomeOf(view, measures);
  const own = ownFailure(view, measures);
  const results = withInjected(checks, view).map((check) => judgeCheck(check, view, measures, within));
  return {
    repeat: view.plan.repeat,
    number: view.plan.number,
    configuration: view.plan.configuration,
    outcome,
    isPassed: !UNSOUND.has(outcome) && results.every(({ isPassed }) => isPassed),
    checks: results,
    injections: measures.injections,
    startMs: view.startMs,
    endMs: view.endMs,
    exitCode: view.end?.report?.exitCode,
    falseDetections: measures.falseDetections,
    problems: [...view.problems, ...doubtsOf(view, own)],
  };
}

/** Faults that were not made as planned tell nothing of the target: this check is made without being written. */
function withInjected(checks: readonly Check[], { plan }: RepeatView): readonly Check[] {
  if (plan.injections.length === 0 || checks.some(({ type }) => type === 'injected')) return checks;
  return [...checks, { type: 'injected', least: 'all', name: 'injected', place: { file: '', line: 1, column: 1 } }];
}

function doubtsOf(view: RepeatView, own: string | undefined): readonly string[] {
  const doubts = own === undefined ? [] : [`the target failed by itself, without a fault: ${own}`];
  const isFar = view.shape.hosts.length > 1 && view.injections.some(({ sourceWallMs }) => sourceWallMs !== undefined);
  if (view.clocks.isEmpty && isFar) {
    doubts.push('no clock was measured: times between hosts are as exact as their clocks');
  }
  return doubts;
}

function byConfiguration(repeats: readonly RepeatSummary[]): readonly (readonly [string, readonly RepeatSummary[]])[] {
  const names = [...new Set(repeats.map(({ configuration }) => configuration))];
  return names.map((name) => [name, repeats.filter(({ configuration }) => configuration === name)]);
}

function proportionsOf(repeats: readonly RepeatSummary[]): readonly Proportion[] {
  return byConfiguration(repeats).flatMap(([configuration, own]) => OUTCOMES.map((outcome) => {
    const count = own.filter((repeat) => repeat.outcome === outcome).length;
    return { what: outcome, configuration, count, n: own.length, interval: wilson(count, own.length) };
  }));
}

/**
 * Measures of an injection, all since the fault; and of a repeat. ms. Stabilization is of an injection with several
 * victims: until the last agent was told of the last of them (IJHPCA, 3.3).
 */
export const MEASURES = ['detection', 'notification', 'stabilization', 'recovery', 'duration'] as const;

function figuresOf(repeats: readonly RepeatSummary[]): readonly Figures[] {
  return byConfiguration(repeats).flatMap(([configuration, own]) => {
    const kinds = [...new Set(own.flatMap(({ injections }) => injections.map(({ kind }) => kind)))].sort();
    return MEASURES.flatMap((measured) => {
      const groups = measured === 'duration' || kinds.length < 2 ? [''] : ['', ...kinds];
      return groups.flatMap((kind) => {
        const values = valuesOf(measured, own, kind);
        if (values.length === 0) return [];
        return [{ measure: measured, unit: 'ms', configuration, kind, ...describe(values), values }];
      });
    });
  });
}

function valuesOf(
  measured: (typeof MEASURES)[number], repeats: readonly RepeatSummary[], kind: string,
): readonly number[] {
  // A repeat that was cut off or hung says nothing of how long one takes.
  if (measured === 'duration') {
    return repeats.filter(({ outcome }) => outcome !== 'cut-off' && outcome !== 'hung')
      .map(({ startMs, endMs }) => endMs - startMs);
  }
  const ofKind = repeats.map(({ injections }) => injections.filter((one) => kind === '' || one.kind === kind));
  if (measured === 'stabilization') return ofKind.flatMap(stabilizations);
  const field = `${measured}Ms` as const;
  return ofKind.flatMap((injections) => injections.flatMap((one) => one[field] ?? []));
}

function stabilizations(ofRepeat: readonly InjectionMeasures[]): readonly number[] {
  const byId = new Map<string, InjectionMeasures[]>();
  for (const one of ofRepeat) byId.set(one.id, [...(byId.get(one.id) ?? []), one]);
  return [...byId.values()].filter((victims) => victims.length > 1)
    .map((victims) => Math.max(...victims.map(({ notificationMs }) => notificationMs ?? Infinity)))
    .filter(Number.isFinite);
}
