/** A failure's record as a paragraph for people. */

import type { FailureRecord } from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { foldRanks } from '../iof/fold.js';
import { isoTime } from '../iof/label.js';
import { foldSorted } from '../job/hostset.js';

/** Names that are listed; the rest is counted. */
const NAMES_SHOWN = 4;

/** One sentence a fact; what is not known is left out. */
export function recordText(record: FailureRecord): string {
  const { subject, hostName, evidence, detector, reporter, confirmers, lostRanks, newParents, policy } = record;
  const attempt = subject.kind !== 'host' && subject.attempt > 1 ? `, attempt ${subject.attempt},` : '';
  const what = subject.kind === 'tool' ? `rank ${subject.rank}${attempt} on ${hostName}`
    : subject.kind === 'host' ? `host ${hostName}` : `session agent${attempt} on ${hostName}`;
  const also = confirmers.length === 0 ? '' : `, confirmed by ${listed(confirmers)}`;
  const lost = subject.kind === 'tool' ? [] : lostRanks.filter(({ ranks }) => ranks.length > 0)
    .map(({ ranks }) => `Ranks lost: ${foldRanks(ranks)}.`);
  return [
    // Messages of errors may name what failed.
    `${/^(?:Rank|Host|Agent) /u.test(evidence) ? '' : `${what} failed: `}${evidence.replace(/\.$/u, '')}.`,
    `Found by ${detector} at ${reporter}${also}${timesText(record)}.`,
    ...lost,
    ...parentsText(newParents),
    ...(policy.length === 0 ? [] : [`Then: ${policy.join('; ')}.`]),
  ].join(' ');
}

function timesText(record: FailureRecord): string {
  const { failedWallMs, confirmedWallMs, suspectedWallMs, notified, notifiedWallMs, promised } = record;
  const { achievedMs, achievedMaxMs } = record;
  const suspected = suspectedWallMs === failedWallMs ? 0 : confirmedWallMs - suspectedWallMs;
  return [
    ` at ${isoTime(confirmedWallMs)}`,
    ...(achievedMs === undefined ? [] : [`${ms(achievedMs)} after it failed`]),
    ...(achievedMaxMs === undefined ? [] : [`at most ${ms(achievedMaxMs)} after it failed`]),
    ...(suspected >= 1 ? [`suspected ${ms(suspected)} before`] : []),
    ...(promised === undefined ? [] : [`promised ${ms(promised.minMs)} to ${ms(promised.maxMs)}`]),
    ...(notifiedWallMs === undefined ? [] : [`${notified} agents told within ${ms(notifiedWallMs - confirmedWallMs)}`]),
  ].join(', ');
}

function parentsText(newParents: FailureRecord['newParents']): string[] {
  if (newParents.length === 0) return [];
  const shown = newParents.slice(0, NAMES_SHOWN).map(({ host, parent }) => `${host} to ${parent}`);
  const rest = newParents.length - shown.length;
  return [`Linked again: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`];
}

function listed(names: readonly string[]): string {
  return names.length <= NAMES_SHOWN ? names.join(', ') : foldSorted(new Set(names));
}

/** Wall clocks of hosts differ: never less than nothing. */
function ms(durationMs: number): string {
  return formatDuration(Math.max(0, Math.round(durationMs)));
}
