/**
 * Agreements of programs that use the client library: the n-th result that a rank gets is that of every other rank that
 * gets it, who is lost stays lost, and nobody is called lost who ended well.
 */

import { isInRanges, type Agreed } from '@stci/interface';
import type { Run } from './run.js';
import { truthOf } from './truth.js';

export function checkAgreement(run: Run): string[] {
  const problems: string[] = [];
  const results: string[] = [];
  for (const { rank, app, process } of truthOf(run)) {
    if (app.program !== 'agree') continue;
    for (const [round, line] of linesOf(run, rank).entries()) {
      results[round] ??= line;
      if (results[round] !== line) problems.push(`rank ${rank}, round ${round}: ${line}, others ${results[round]}`);
    }
    const isWell = process?.end?.status === 0 && run.faults.every(({ plan }) => plan.kind === 'kill-tool');
    const called = results.find((line) => isWell && isInRanges((JSON.parse(line) as Agreed).failed, rank));
    if (called !== undefined) problems.push(`rank ${rank} ended well, and is called lost: ${called}`);
  }
  const counts = results.map((line) => count((JSON.parse(line) as Agreed).failed));
  if (counts.some((lost, round) => lost < (counts[round - 1] ?? 0))) problems.push(`lost ranks by round: ${counts}`);
  return problems;
}

/** Whole lines of its standard output. */
function linesOf({ record }: Run, rank: number): string[] {
  const chunks = record.streams.get(`${rank}/stdout`)?.chunks ?? [];
  const text = chunks.map((chunk) => String.fromCharCode(...chunk)).join('');
  return text.split('\n').slice(0, -1);
}

function count(ranges: Agreed['failed']): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}
