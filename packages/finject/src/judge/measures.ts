/**
 * The measures of each injection: which failures it caused, when they were suspected, detected, told to all, recovered.
 *
 * A failure belongs to the injection that can explain it (see victims.ts) and that was in force after the subject's
 * last sign of life, at or before the suspicion; an injection that ends its victim explains one failure of each
 * subject, as the next start of it is another. Of what no injection explains, a rank that ended by itself is a failure
 * of the target's own, and the rest are false detections; but not what merely follows: from the job's ending, at agents
 * that depend on a victim, and programs that end by themselves after a fault.
 */

import type { FaultVictim } from '@stci/interface';
import type { PlannedInjection } from '../experiment/contracts.js';
import { injectionName } from '../experiment/names.js';
import { errorBetween, sourceOf, type Moment } from './clocks.js';
import type { InjectionMeasures } from './contracts.js';
import type { RecordOf, RepeatView } from './repeat-view.js';
import { placeOf, sightingsOf, type Recovery, type Sighting, type Sightings, type Suspicion } from './sightings.js';
import { effectOn, isEnding, victimName } from './victims.js';

/** A site stamps an injection when it has made it: the victim's end may have been seen by then. */
const STAMP_SLACK_MS = 50;

export interface RepeatMeasures {
  readonly injections: readonly InjectionMeasures[];
  readonly falseDetections: readonly string[];
  /** Ranks that ended by themselves, without a fault that explains it. */
  readonly ownFailures: readonly string[];
  readonly sightings: Sightings;
  /** True: a failure was reported, an injection's or what follows of one. */
  readonly isNoticed: boolean;
}

/** One victim of one injection. */
interface Pending {
  readonly planned: PlannedInjection;
  readonly victim: FaultVictim;
  readonly index: number;
  readonly injected: Moment | undefined;
  readonly undone: Moment | undefined;
  readonly failures: Sighting[];
  /** Failures at the victim itself: from these come its times. */
  readonly direct: Sighting[];
  readonly suspicions: Suspicion[];
}

export function measure(view: RepeatView): RepeatMeasures {
  const sightings = sightingsOf(view);
  const pending = view.plan.injections.flatMap((planned) => pendingOf(planned, view));
  const falseDetections: string[] = [];
  const ownFailures: string[] = [];
  const byTime = [...sightings.failures].sort((a, b) => since(a) - since(b));
  for (const failure of byTime) {
    if (assignFailure(failure, pending, sightings.endingMs, view)) continue;
    const { subject, cause, key, evidence } = failure;
    const isOwn = hasEndedItself(failure) || cause === 'not-started';
    if (isOwn) ownFailures.push(`${placeOf(subject)}: ${evidence}`);
    else falseDetections.push(`${key}: ${evidence} (no fault had hit it)`);
  }
  for (const suspicion of sightings.suspicions) {
    if (!assignSuspicion(suspicion, pending, sightings.endingMs, view)) {
      falseDetections.push(`${suspicion.text} (no fault had hit it)`);
    }
  }
  const recoveries = assignRecoveries(sightings.recoveries, pending, view);
  return {
    injections: pending.map((one) => measuresOf(one, recoveries.get(one) ?? [], view)),
    falseDetections,
    ownFailures,
    sightings,
    isNoticed: sightings.failures.length > 0,
  };
}

function pendingOf(planned: PlannedInjection, view: RepeatView): readonly Pending[] {
  const records = view.injectionsById.get(planned.id) ?? [];
  return planned.victims.map((victim, index) => {
    const own = records.filter((record) => record.victim === undefined || record.victim === index);
    const { injected, undone } = timesOf(own, view);
    return { planned, victim, index, injected, undone, failures: [], direct: [], suspicions: [] };
  });
}

/** The first report of `injected`, the last of `undone`; of a site that died with the fault, when it was sent. */
function timesOf(
  records: readonly RecordOf<'injection'>[], view: RepeatView,
): { readonly injected: Moment | undefined; readonly undone: Moment | undefined } {
  let injected: Moment | undefined;
  let undone: Moment | undefined;
  for (const record of records) {
    const at = momentOf(record, view);
    if (record.state === 'injected' && (injected === undefined || at.ms < injected.ms)) injected = at;
    if ((record.state === 'undone' || record.state === 'lapsed') && at.ms > (undone?.ms ?? 0)) undone = at;
  }
  const refused = records.some(({ state }) => state === 'failed' || state === 'skipped' || state === 'never');
  const ordered = records.find(({ state }) => state === 'ordered');
  if (injected === undefined && ordered !== undefined && !refused) injected = { ms: ordered.wallMs, errorMs: 0 };
  return { injected, undone };
}

function momentOf(record: RecordOf<'injection'>, view: RepeatView): Moment {
  if (record.sourceWallMs === undefined) return { ms: record.wallMs, errorMs: 0 };
  const source = record.agent === undefined ? record.host ?? 'controller' : sourceOf(record.agent);
  return view.clocks.correct(record.sourceWallMs, source === 'unknown' ? record.host ?? source : source);
}

function since({ failed, suspected, detected }: Sighting): number {
  return (failed ?? suspected ?? detected).ms;
}

/** A program of the target has ended, as the operating system said: nobody took it for dead who lived. */
function hasEndedItself({ subject, cause }: Sighting): boolean {
  return subject.kind === 'tool' && (cause === 'exited' || cause === 'signalled' || cause === undefined);
}

/** Whether it is in force, or its consequences may still come. */
function isInForce(one: Pending, atMs: number, slackMs: number, view: RepeatView): boolean {
  if (one.injected === undefined || one.injected.ms - slackMs > atMs) return false;
  if (isEnding(one.planned)) return true;
  return one.undone === undefined || atMs <= one.undone.ms + view.followMs;
}

function assignFailure(
  failure: Sighting, pending: readonly Pending[], endingMs: number | undefined, view: RepeatView,
): boolean {
  const atMs = since(failure);
  const slackMs = (one: Pending): number =>
    STAMP_SLACK_MS + (one.injected?.errorMs ?? 0) + (failure.failed ?? failure.detected).errorMs;
  const inForce = pending.filter((one) => isInForce(one, atMs, slackMs(one), view));
  const place = placeOf(failure.subject);
  const direct = inForce.filter((one) => effectOn(one.victim, failure.subject, view.shape) === 'direct'
    && !(isEnding(one.planned) && one.direct.some(({ subject }) => placeOf(subject) === place)));
  const cause = chooseCause(direct, failure, slackMs);
  if (cause !== undefined) {
    cause.failures.push(failure);
    cause.direct.push(failure);
    return true;
  }
  if (endingMs !== undefined && failure.detected.ms >= endingMs) return true;
  const follows = inForce.filter((one) => follow(one, failure, view));
  latest(follows)?.failures.push(failure);
  return follows.length > 0;
}

/** The first that was injected after the last sign of life; else the latest. */
function chooseCause(
  candidates: readonly Pending[], { heard }: Sighting, slackMs: (one: Pending) => number,
): Pending | undefined {
  if (heard !== undefined) {
    const after = candidates.filter((one) => (one.injected?.ms ?? 0) + slackMs(one) >= heard.ms);
    const first = after.reduce<Pending | undefined>(
      (best, one) => (best === undefined || injectedMs(one) < injectedMs(best) ? one : best), undefined);
    if (first !== undefined) return first;
  }
  return latest(candidates);
}

function latest(candidates: readonly Pending[]): Pending | undefined {
  return candidates.reduce<Pending | undefined>(
    (best, one) => (best === undefined || injectedMs(one) > injectedMs(best) ? one : best), undefined);
}

function injectedMs({ injected }: Pending): number {
  return injected?.ms ?? 0;
}

/** A consequence elsewhere: below the victim, or a program that ended by itself after the fault. */
function follow(one: Pending, failure: Sighting, view: RepeatView): boolean {
  const { subject, cause, detected } = failure;
  if (one.planned.impact === 'none') return false;
  if (hasEndedItself(failure)) return true;
  const isSoon = detected.ms <= injectedMs(one) + (one.planned.durationMs ?? 0) + view.followMs;
  const effect = effectOn(one.victim, subject, view.shape);
  return isSoon && (effect !== undefined || (cause === 'not-started' && subject.kind !== 'host'));
}

function assignSuspicion(
  suspicion: Suspicion, pending: readonly Pending[], endingMs: number | undefined, view: RepeatView,
): boolean {
  const { host, incarnation, at } = suspicion;
  if (endingMs !== undefined && at.ms >= endingMs) return true;
  const subject = { kind: 'host', host, incarnation } as const;
  const explaining = pending.filter((one) => {
    if (!isInForce(one, at.ms, STAMP_SLACK_MS + at.errorMs + (one.injected?.errorMs ?? 0), view)) return false;
    if (one.victim.kind === 'rank' || one.planned.impact === 'none') return false;
    const known = one.direct.find(({ subject: { kind, host: at } }) => kind === 'host' && at === host)?.subject;
    if (known?.kind === 'host' && isEnding(one.planned) && incarnation > known.incarnation) return false;
    return effectOn(one.victim, subject, view.shape) !== undefined;
  });
  const direct = explaining.filter((one) => effectOn(one.victim, subject, view.shape) === 'direct');
  latest(direct)?.suspicions.push(suspicion);
  return explaining.length > 0;
}

function measuresOf(one: Pending, recoveries: readonly Recovery[], { plan }: RepeatView): InjectionMeasures {
  const { planned, victim, injected, undone } = one;
  const first = earliest(one.direct.map((failure) => ({ failure, ...failure.detected })))?.failure;
  const suspected = earliest([
    ...one.suspicions.map(({ at }) => at),
    ...one.direct.flatMap(({ suspected: at }) => (at === undefined ? [] : [at])),
  ]);
  const recovered = earliest(recoveries.map(({ at }) => at));
  const after = (moment: Moment | undefined): number | undefined =>
    injected === undefined || moment === undefined ? undefined : moment.ms - injected.ms;
  return {
    id: planned.id, name: injectionName(planned.id, plan),
    fault: planned.fault, kind: planned.kind, victim, victimName: victimName(victim),
    injectedMs: injected?.ms, undoneMs: undone?.ms,
    subjects: one.failures.map(({ key }) => key),
    detector: first?.detector ?? (first === undefined ? one.suspicions[0]?.detector : undefined),
    suspectedMs: suspected?.ms, detectedMs: first?.detected.ms, notifiedMs: first?.notified?.ms,
    recoveredMs: recovered?.ms,
    detectionMs: after(first?.detected), notificationMs: after(first?.notified), recoveryMs: after(recovered),
    errorMs: errorBetween(injected, first?.detected), notificationErrorMs: errorBetween(injected, first?.notified),
  };
}

function earliest<T extends Moment>(moments: readonly T[]): T | undefined {
  return moments.reduce<T | undefined>((best, one) => (best === undefined || one.ms < best.ms ? one : best), undefined);
}

/** Each recovery belongs to one injection: the latest of those that it can follow from. */
function assignRecoveries(
  recoveries: readonly Recovery[], pending: readonly Pending[], view: RepeatView,
): ReadonlyMap<Pending, readonly Recovery[]> {
  const assigned = new Map<Pending, Recovery[]>();
  for (const recovery of recoveries) {
    const cause = latest(pending.filter((one) => concerns(recovery, one, view)));
    if (cause !== undefined) assigned.set(cause, [...(assigned.get(cause) ?? []), recovery]);
  }
  return assigned;
}

/** What failed by this injection goes on; or a host whose way to the controller it cut has another. */
function concerns({ what, at, isLink }: Recovery, one: Pending, view: RepeatView): boolean {
  if (!isInForce(one, at.ms, at.errorMs, view) || at.ms < injectedMs(one)) return false;
  const own = one.failures.some(({ subject, detected }) => detected.ms <= at.ms + STAMP_SLACK_MS
    && (what.kind === 'rank' && subject.kind === 'tool' ? subject.rank === what.rank
      : subject.host === (what.kind === 'rank' ? view.shape.hostOfRank[what.rank] : what.host)));
  if (own || what.kind === 'rank' || !isLink || one.victim.kind === 'rank') return own;
  const isSoon = at.ms <= (one.undone?.ms ?? injectedMs(one)) + view.followMs;
  return isSoon && effectOn(one.victim, { kind: 'host', host: what.host, incarnation: 1 }, view.shape) !== undefined;
}
