/**
 * The class of a repeat. The first that holds, in this order:
 *
 * 1. `cut-off`: the record has no end of the repeat, or the repeat was stopped;
 * 2. `hung`: the time limit ended it;
 * 3. `false-alarm`: a failure or suspicion was reported of what lived, as far as is known: no fault had hit it, and the
 *    operating system did not say that it had ended;
 * 4. `failed`: the target failed by itself, before a fault, without one in force, or where none was made;
 * 5. `no-fault`: no injection was made, as in the golden run;
 * 6. `missed`: something that an injection was certain to end was never reported;
 * 7. `aborted`: a failure was reported, and the job was ended for it, or gave no report;
 * 8. `recovered`: a failure was reported, and the job went on to its end, whatever its exit code;
 * 9. `masked`: no failure was reported.
 */

import type { Outcome } from './contracts.js';
import type { RepeatMeasures } from './measures.js';
import type { RepeatView } from './repeat-view.js';
import { isCertain } from './victims.js';

export function outcomeOf(view: RepeatView, measures: RepeatMeasures): Outcome {
  const { end } = view;
  if (end === undefined || end.stopped !== undefined) return 'cut-off';
  if (end.isTimeOut) return 'hung';
  if (measures.falseDetections.length > 0) return 'false-alarm';
  if (ownFailure(view, measures) !== undefined) return 'failed';
  if (isIdle(measures)) return 'no-fault';
  if (hasMissed(view, measures)) return 'missed';
  const isEnded = measures.sightings.endingMs !== undefined || end.report === undefined;
  if (isEnded) return 'aborted';
  return measures.isNoticed ? 'recovered' : 'masked';
}

/** How the target failed by itself; undefined: it did not. */
export function ownFailure({ end }: RepeatView, measures: RepeatMeasures): string | undefined {
  const [first] = measures.ownFailures;
  const exitCode = end?.report?.exitCode ?? 0;
  // What a detector was wrong about, or the time limit, may have ended the job.
  const isOfTarget = isIdle(measures) && measures.falseDetections.length === 0 && end?.isTimeOut !== true;
  return first ?? (isOfTarget && exitCode !== 0 ? `exit code ${exitCode}` : undefined);
}

function isIdle({ injections }: RepeatMeasures): boolean {
  return injections.every(({ injectedMs }) => injectedMs === undefined);
}

/** The controller and the front-end have nobody who reports them. */
function hasMissed(view: RepeatView, { injections }: RepeatMeasures): boolean {
  const certain = new Set(view.plan.injections.filter(isCertain).map(({ id }) => id));
  return injections.some(({ id, victim, injectedMs, detectedMs }) =>
    certain.has(id) && injectedMs !== undefined && detectedMs === undefined
    && !(victim.kind === 'agent' && (victim.role === 'controller' || victim.role === 'front-end')));
}
