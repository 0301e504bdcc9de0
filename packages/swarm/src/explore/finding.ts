/** What a run that fails shows. Findings of the same class are one to begin with: it is told once, with its seeds. */

import type { Kind, SeededPlan } from './kind.js';
import { different, encode } from './plan-text.js';
import { regressionText } from './regressions.js';
import { shrink, type Shrunk } from './shrink.js';

export interface ExploreIo {
  print(line: string): void;
  /** Real time, ms. */
  nowMs(): number;
}

export interface FindingClass {
  readonly name: string;
  readonly seeds: number[];
}

/** Of a problem: the checker that found it, and its first line without its numbers. */
export function classOf(problem: string): string {
  const [line = ''] = problem.split('\n');
  return line.replace(/\d+(\.\d+)?/g, '#').replace(/#(, #)+/g, '#, …');
}

/** Whether the plan shows a problem of that class; one that cannot be run shows nothing of it. */
export function showsClass(kind: Kind, plan: SeededPlan, name: string): boolean {
  try {
    return kind.run(plan).problems.some((problem) => classOf(problem) === name);
  } catch {
    return false;
  }
}

/** The smallest plan that shows that class, as far as it is found in time. */
export function shrinkFinding(
  kind: Kind,
  plan: SeededPlan,
  name: string,
  { boundMs, nowMs }: { readonly boundMs: number; readonly nowMs: () => number },
): Shrunk<SeededPlan> {
  return shrink<SeededPlan>({
    plan, boundMs, nowMs, plain: kind.plain,
    shows: (candidate) => showsClass(kind, candidate, name),
    fewer: (candidate) => kind.fewer(candidate),
    fit: (candidate) => (kind.refuse(candidate) === undefined ? kind.fit(candidate) : undefined),
  });
}

/** The command that runs this plan again. */
export function planCommand(kind: Kind, plan: SeededPlan): string {
  const json = encode(different(plan, kind.plain)).replaceAll("'", String.raw`'\''`);
  return `npm run swarm --${kind.flags === '' ? '' : ` ${kind.flags}`} --plan '${json}' --trace`;
}

/** Looks for the smallest plan that shows that class, and prints it. */
export function printSmallest(shrinkMs: number, kind: Kind, plan: SeededPlan, name: string, io: ExploreIo): void {
  const { print, nowMs } = io;
  const startMs = nowMs();
  const shrunk = shrinkFinding(kind, plan, name, { boundMs: shrinkMs, nowMs });
  const seconds = ((nowMs() - startMs) / 1000).toFixed(0);
  const how = shrunk.isSmallest ? 'nothing simpler shows it' : 'the time was over; --shrink S gives more';
  print(`  smallest plan, ${shrunk.tries} tries in ${seconds} s (${how}), for regressions/${kind.regressions}:`);
  print(regressionText(kind, { found: name, plan: shrunk.plan }));
  print(`  replay: ${planCommand(kind, shrunk.plan)}`);
}
