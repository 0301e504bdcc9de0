/** How far the faults of a repeat were carried out as planned: at each victim of each injection. */

import type { FailedSubject, FaultVictim } from '@stci/interface';
import type { InjectionMeasures } from './contracts.js';
import type { RepeatMeasures } from './measures.js';
import type { RecordOf, RepeatView } from './repeat-view.js';
import { effectOn, isEnding, victimHosts } from './victims.js';

export interface CarriedOut {
  /** Victims that were hit, of `planned`. */
  readonly hit: number;
  readonly planned: number;
  /** Gone by an earlier fault of the repeat: there was nothing left to do. */
  readonly gone: number;
  /** Each of the others, with the reason. */
  readonly lacking: readonly string[];
}

export function carriedOut(view: RepeatView, { injections }: RepeatMeasures): CarriedOut {
  const numbers = new Map<string, number>();
  let [hit, gone] = [0, 0];
  const lacking: string[] = [];
  for (const one of injections) {
    const number = numbers.get(one.id) ?? 0;
    numbers.set(one.id, number + 1);
    const records = view.injectionsById.get(one.id) ?? [];
    const own = records.filter(({ victim }) => victim === undefined || victim === number);
    // Of a fault at several agents, one that failed makes the whole another than planned.
    const failed = own.find(({ state }) => state === 'failed');
    const refused = failed ?? own.find(({ state }) => state === 'skipped');
    if (failed === undefined && one.injectedMs !== undefined) hit += 1;
    else if (one.injectedMs === undefined && isGone(one, refused, injections, view)) gone += 1;
    else lacking.push(reasonOf(one, failed ?? own.at(-1)));
  }
  return { hit, planned: injections.length, gone, lacking };
}

function reasonOf({ name, victimName }: InjectionMeasures, last: RecordOf<'injection'> | undefined): string {
  const said = last === undefined ? 'the record ends before it' : [last.state, last.text].filter(Boolean).join(': ');
  return `${name} (${victimName}): ${said}`;
}

/** A fault before it has ended its victim, or what that needs. */
function isGone(
  one: InjectionMeasures, refused: RecordOf<'injection'> | undefined, all: readonly InjectionMeasures[],
  view: RepeatView,
): boolean {
  if (refused === undefined) return false;
  const ending = new Set(view.plan.injections.filter(isEnding).map(({ id }) => id));
  const subjects = subjectsOf(one.victim, view);
  return all.some(({ id, victim, injectedMs = Infinity }) => id !== one.id && ending.has(id)
    && injectedMs <= refused.wallMs
    && subjects.some((subject) => effectOn(victim, subject, view.shape) !== undefined));
}

/** As which its end, or that of one of its hosts, would be reported. */
function subjectsOf(victim: FaultVictim, { shape }: RepeatView): readonly FailedSubject[] {
  const [host = 0] = victimHosts(victim, shape);
  const start = { incarnation: 1, job: 0, attempt: 1 };
  if (victim.kind === 'rank') return [{ kind: 'tool', host, rank: victim.rank, ...start }];
  if (victim.kind === 'agent' && victim.role === 'session') return [{ kind: 'session-agent', host, ...start }];
  return victimHosts(victim, shape).map((each) => ({ kind: 'host', host: each, incarnation: 1 }));
}
