/** Which repeats of a run have a timeline in its report. */

import type { RepeatSummary } from './contracts.js';

const TIMELINES_MAX = 24;

/** Repeats that did not pass, then one of each outcome and configuration, then the first: in order of numbers. */
export function drawnRepeats(repeats: readonly RepeatSummary[]): readonly RepeatSummary[] {
  if (repeats.length <= TIMELINES_MAX) return repeats;
  const seen = new Set<string>();
  const isFirst = ({ outcome, configuration }: RepeatSummary): boolean => {
    const key = `${outcome} ${configuration}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  };
  const firsts = new Set(repeats.filter(isFirst));
  const ranked = [
    ...firsts, ...repeats.filter((one) => !one.isPassed && !firsts.has(one)),
    ...repeats.filter((one) => one.isPassed && !firsts.has(one)),
  ];
  return ranked.slice(0, TIMELINES_MAX).sort((a, b) => a.repeat - b.repeat);
}
