/** Times that cannot be: faults that certainly come after the end, and spans that are longer than what they lie in. */

import { formatDuration } from '@stci/core';
import { leastMs } from './distributions.js';
import type { Experiment, FaultEntry } from './contracts.js';

type Tell = (path: readonly (string | number)[], text: string) => void;

export function timeProblems(experiment: Experiment, tell: Tell): void {
  const { warmUpMs, timeLimitMs, checks } = experiment;
  const limit = `time-limit (${formatDuration(timeLimitMs)})`;
  if (warmUpMs >= timeLimitMs) {
    tell(['warm-up'], `The warm-up of ${formatDuration(warmUpMs)} is not shorter than ${limit}, so nothing would be `
      + 'injected. Shorten it, or raise time-limit.');
  }
  for (const fault of experiment.faults) faultTimes(fault, timeLimitMs - warmUpMs, { limit, tell });
  for (const check of checks) {
    const ms = check.type === 'time-limit' ? check.limitMs : check.type === 'detected' ? check.withinMs : 0;
    if (ms <= timeLimitMs) continue;
    tell(check.path ?? ['checks'], `Check ${check.name} allows ${formatDuration(ms)}, but a repeat ends after `
      + `${limit}, so it could not fail. Lower it, or raise time-limit.`);
  }
}

interface Context {
  readonly limit: string;
  readonly tell: Tell;
}

function faultTimes(fault: FaultEntry, leftMs: number, context: Context): void {
  const { name, when, count, coolDownMs, durationMs, parts, path = [] } = fault;
  const { limit, tell } = context;
  const firstMs = leastMs(when.delay);
  const isTrace = when.delay.type === 'trace';
  const stepMs = Math.max(leastMs(when.every), coolDownMs === 0 ? 0 : coolDownMs + (durationMs ?? 0));
  const lastMs = isTrace ? when.delay.timesMs[count - 1] ?? firstMs : firstMs + (count - 1) * stepMs;
  if (leftMs > 0 && lastMs >= leftMs) {
    const which = count === 1 ? 'It comes' : firstMs >= leftMs ? 'All of its injections come' : 'Some injections come';
    tell([...path, 'when'], `${name}: ${which} at least ${formatDuration(lastMs)} after the trigger, which is after `
      + `the end: ${limit}. Shorten the times, or raise time-limit.`);
  }
  if (durationMs !== undefined && durationMs >= leftMs && leftMs > 0) {
    tell([...path, 'duration'], `${name}: a duration of ${formatDuration(durationMs)} is longer than the repeat: `
      + `${limit}. Shorten it, or raise time-limit.`);
  }
  for (const part of parts) faultTimes(part, leftMs - firstMs, context);
}
