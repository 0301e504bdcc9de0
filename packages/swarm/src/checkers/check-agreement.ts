/**
 * Agreements of programs that use the client library: the n-th result that a rank gets is that of every other rank that
 * gets it, who is lost stays lost, and nobody is called lost who ended well.
 */

import { isInRanges, type Agreed } from '@stci/interface';
import { hitsRanks } from '../scenarios/scenario.js';
import type { Run } from '../worlds/run.js';
import { bytesText } from '../worlds/text.js';
import { truthOf } from './truth.js';

export function checkAgreement(run: Run): string[] {
  const programs = truthOf(run).filter(({ app }) => app.program === 'agree');
  const isUndisturbed = run.faults.every(({ step }) => step.kind === 'kill' && hitsRanks(step));
  const well = programs.filter(({ process }) => isUndisturbed && process?.end?.status === 0);
  const lines = new Map(programs.map(({ rank }) => [rank, linesOf(textOf(run, rank))]));
  return agreementProblems(lines, new Set(well.map(({ rank }) => rank)));
}

/** `lines`: the results that each rank wrote. `well`: ranks that ended by themselves, on hosts that stayed. */
export function agreementProblems(
  lines: ReadonlyMap<number, readonly string[]>, well: ReadonlySet<number>,
): string[] {
  const problems: string[] = [];
  const results: string[] = [];
  for (const [rank, own] of lines) {
    for (const [round, line] of own.entries()) {
      results[round] ??= line;
      if (results[round] !== line) problems.push(`rank ${rank}, round ${round}: ${line}, others ${results[round]}`);
    }
    const called = results.find((line) => well.has(rank) && isInRanges((JSON.parse(line) as Agreed).failed, rank));
    if (called !== undefined) problems.push(`rank ${rank} ended well, and is called lost: ${called}`);
  }
  const agreed = results.map((line) => JSON.parse(line) as Agreed);
  const counts = agreed.map(({ failed }) => count(failed));
  if (counts.some((lost, round) => lost < (counts[round - 1] ?? 0))) problems.push(`lost ranks by round: ${counts}`);
  return [...problems, ...agreed.flatMap((each, round) => flagProblems(each, round, [...lines.keys()]))];
}

/** A flag is that of all who took part; a rank that was lost after its vote may have had its say. */
function flagProblems({ flag, ranks, isMismatch }: Agreed, round: number, all: readonly number[]): string[] {
  const denied = all.filter((rank) => !flagOf(rank, round));
  const isWrong = flag ? denied.some((rank) => isInRanges(ranks, rank)) : denied.length === 0;
  const text = `round ${round}: ${flag} of ranks ${JSON.stringify(ranks)}, where ${denied} vote against it`;
  return [...(isWrong ? [text] : []), ...(isMismatch ? [`round ${round}: not all called the same`] : [])];
}

/** What a rank votes, by program `agree`. */
function flagOf(rank: number, round: number): boolean {
  return (rank + round) % 5 > 0;
}

/** Its standard output. */
export function textOf({ record }: Run, rank: number): string {
  const chunks = record.streams.get(`${rank}/stdout`)?.chunks ?? [];
  return chunks.map(bytesText).join('');
}

/** Those that are whole. */
export function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

function count(ranges: Agreed['failed']): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}
