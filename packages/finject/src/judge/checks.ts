/**
 * The checks of an experiment, judged from the record of a repeat. A `command` was run by the runner, whose result is
 * in the record; all others are judged here alone, so that a report can be made again from the history.
 */

import type { Rank } from '@stci/interface';
import type { Check } from '../experiment/contracts.js';
import type { CheckResult } from './contracts.js';
import { carriedOut } from './injected.js';
import type { RepeatMeasures } from './measures.js';
import { linesOf, type RepeatView } from './repeat-view.js';
import { isCertain } from './victims.js';
import { unlimited, type Within } from './within.js';

/** How long a pattern may take for the output of a repeat. */
const PATTERN_MS = 5000;

/** Characters of a line that are searched. */
const LINE_MAX = 64 * 1024;

/** Reasons that are told why a fault was not injected. */
const LACKING_MAX = 3;

type CheckOf<T extends Check['type']> = Extract<Check, { readonly type: T }>;

/** One check of a repeat that has ended, or was cut off. */
export function judgeCheck(
  check: Check, view: RepeatView, measures: RepeatMeasures, within: Within = unlimited,
): CheckResult {
  const verdict = verdictOf(check, view, measures, within);
  return { name: check.name, isPassed: verdict.isPassed, text: verdict.text };
}

type Verdict = Omit<CheckResult, 'name'>;

function verdictOf(check: Check, view: RepeatView, measures: RepeatMeasures, within: Within): Verdict {
  switch (check.type) {
    case 'exit-code':
      return exitCode(check, view);
    case 'output':
      return output(check, view, within);
    case 'command':
      return command(check, view);
    case 'time-limit':
      return timeLimit(check, view);
    case 'failed-ranks':
      return failedRanks(check, view);
    case 'detected':
      return detected(check, view, measures);
    case 'injected':
      return injected(check, view, measures);
    case 'no-false-detection':
      return none(measures.falseDetections, 'false detection');
    case 'no-orphan':
      return noOrphan(view);
  }
}

function passed(text: string): Verdict {
  return { isPassed: true, text };
}

function failed(text: string): Verdict {
  return { isPassed: false, text };
}

const NO_REPORT = failed('there is no exit report: the session or the record ended before');

function exitCode({ anyOf }: CheckOf<'exit-code'>, view: RepeatView): Verdict {
  const report = view.end?.report;
  if (report === undefined) return NO_REPORT;
  const text = `exit code ${report.exitCode}`;
  return anyOf.includes(report.exitCode) ? passed(text) : failed(`${text}, expected ${anyOf.join(' or ')}`);
}

function output({ pattern, expect, rank }: CheckOf<'output'>, view: RepeatView, within: Within): Verdict {
  let matcher: RegExp;
  try {
    matcher = new RegExp(pattern);
  } catch (cause) {
    return failed(`the pattern is invalid: ${String(cause)}`);
  }
  const lines = linesOf(view);
  const index = within(PATTERN_MS, () => lines.findIndex((line) =>
    (rank === undefined || line.rank === rank) && matcher.test(line.line.slice(0, LINE_MAX))));
  if (index === undefined) {
    return failed(`/${pattern}/ was not done within ${PATTERN_MS} ms: repetitions within repetitions take forever on `
      + 'some texts; make it simpler');
  }
  const found = lines[index];
  const where = found === undefined ? `no line matches /${pattern}/`
    : `a line of rank ${found.rank} matches /${pattern}/: ${found.line.slice(0, 200)}`;
  return (found !== undefined) === (expect === 'some') ? passed(where) : failed(where);
}

function command({ name }: CheckOf<'command'>, view: RepeatView): Verdict {
  const result = view.checks.findLast((record) => record.name === name);
  return result ?? failed('the command was not run');
}

function timeLimit({ limitMs }: CheckOf<'time-limit'>, view: RepeatView): Verdict {
  const tookMs = Math.round(view.endMs - view.startMs);
  const text = `${tookMs} ms of ${limitMs} ms`;
  if (view.end === undefined) return failed(`the record ends after ${tookMs} ms`);
  return tookMs <= limitMs && !view.end.isTimeOut ? passed(text) : failed(text);
}

/** Ranks whose last attempt did not end by itself with status 0, but for those that the runtime ended. */
export function ranksThatFailed(view: RepeatView): readonly Rank[] | undefined {
  return view.end?.report?.ranks
    .filter(({ outcome, end }) => !(outcome === 'ended' || outcome === 'not-started'
      || (outcome === 'exited' && (end?.status ?? 0) === 0)))
    .map(({ rank }) => rank).sort((a, b) => a - b);
}

/** Ranks that injections were to end, those of hosts and agents included; of what was really injected. */
function victimRanks(view: RepeatView): readonly Rank[] {
  const made = new Set(view.injections.filter(({ state }) => state === 'injected').map(({ id }) => id));
  const ranks = new Set<Rank>();
  for (const planned of view.plan.injections) {
    if (!made.has(planned.id) || !isCertain(planned)) continue;
    for (const victim of planned.victims) {
      if (victim.kind === 'rank') ranks.add(victim.rank);
      if (victim.kind !== 'host' && victim.kind !== 'agent') continue;
      view.shape.hostOfRank.forEach((host, rank) => {
        if (host === victim.host) ranks.add(rank);
      });
    }
  }
  return [...ranks].sort((a, b) => a - b);
}

function failedRanks({ ranks }: CheckOf<'failed-ranks'>, view: RepeatView): Verdict {
  const found = ranksThatFailed(view);
  if (found === undefined) return NO_REPORT;
  const wanted = ranks === 'victims' ? victimRanks(view) : [...ranks].sort((a, b) => a - b);
  const say = (list: readonly Rank[]): string => (list.length === 0 ? 'none' : list.join(','));
  const isSame = found.length === wanted.length && found.every((rank, index) => rank === wanted[index]);
  return isSame ? passed(`failed: ${say(found)}`) : failed(`failed: ${say(found)}; expected: ${say(wanted)}`);
}

function detected({ withinMs }: CheckOf<'detected'>, view: RepeatView, measures: RepeatMeasures): Verdict {
  const certain = new Set(view.plan.injections.filter(isCertain).map(({ id }) => id));
  const wanted = measures.injections.filter(({ id, injectedMs }) => certain.has(id) && injectedMs !== undefined);
  // The error bound counts for the runtime: what may have been in time was in time.
  const late = wanted.filter(({ detectionMs, errorMs }) =>
    detectionMs === undefined || detectionMs - errorMs > withinMs);
  if (late.length > 0) {
    const list = late.slice(0, 3).map(({ name, victimName, detectionMs }) =>
      `${name} (${victimName}): ${detectionMs === undefined ? 'never' : `${detectionMs.toFixed(1)} ms`}`);
    return failed(`${late.length} of ${wanted.length} later than ${withinMs} ms: ${list.join('; ')}`);
  }
  return passed(`${wanted.length} of ${wanted.length} within ${withinMs} ms`);
}

function injected({ least }: CheckOf<'injected'>, view: RepeatView, measures: RepeatMeasures): Verdict {
  const { hit, planned, gone, lacking } = carriedOut(view, measures);
  const isEnough = least === 'all' ? lacking.length === 0 : hit >= Math.min(least, planned);
  const more = gone === 0 ? '' : `, ${gone} gone by an earlier fault`;
  const text = `${hit} of ${planned} victims hit${more}`;
  if (isEnough) return passed(text);
  const others = lacking.length > LACKING_MAX ? ` and ${lacking.length - LACKING_MAX} more` : '';
  return failed(`${text}; not: ${lacking.slice(0, LACKING_MAX).join('; ')}${others}`);
}

function none(list: readonly string[], what: string): Verdict {
  return list.length === 0 ? passed(`no ${what}`) : failed(`${list.length} ${what}${list.length === 1 ? '' :
    's, first'}: ${list[0]}`);
}

/** Things that are named in a verdict. */
const NAMED_MAX = 3;

/** Processes that were found after the end on any host, or that an agent could not end; hosts that are not known. */
function noOrphan({ end }: RepeatView): Verdict {
  if (end === undefined) return failed('the record ends before orphans were counted');
  const survived = (end.report?.failures ?? []).filter(({ code }) => code === 'STCI_TOOL_SURVIVED');
  const [first] = survived;
  if (first !== undefined) return failed(`${survived.length} could not be ended, first: ${first.message}`);
  const { orphans, left = [], unknown } = end;
  const some = left.slice(0, NAMED_MAX).map(({ host, pid, command }) => `${host}: ${pid} ${command}`);
  if (orphans > some.length && some.length > 0) some.push(`and ${orphans - some.length} more`);
  const found = orphans === 0 ? [] : [`${countOf(orphans, 'process was', 'processes were')} left${listOf(some)}`];
  if (unknown === undefined) return failed([...found, 'other hosts were not looked at'].join('; '));
  if (unknown.length > 0) {
    const whys = unknown.slice(0, NAMED_MAX).map(({ host, reason }) => `${host}: ${reason}`);
    if (unknown.length > whys.length) whys.push(`and ${unknown.length - whys.length} more`);
    found.push(`not known of ${countOf(unknown.length, 'host', 'hosts')}${listOf(whys)}`);
  }
  return found.length === 0 ? passed('no process was left') : failed(found.join('; '));
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function listOf(texts: readonly string[]): string {
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`;
}
