/**
 * Programs that send messages and meet in strict collectives (`talk`), judged by what each wrote: messages of one rank
 * to another arrive in order and none is lost; a collective has one outcome, and the same result, at all.
 */

import { hitsRanks } from '../scenarios/scenario.js';
import type { Run } from '../worlds/run.js';
import { linesOf, textOf } from './check-agreement.js';
import { truthOf } from './truth.js';

interface Line {
  readonly attempt?: number;
  readonly sent?: number;
  readonly number?: number;
  readonly got?: number;
  /** `from:attempt:number`. */
  readonly as?: string;
  readonly kind?: string;
  readonly root?: number;
  readonly epoch?: number;
  readonly round?: number;
  readonly code?: string;
  readonly group?: number | readonly number[];
  readonly parts?: readonly number[];
  readonly values?: readonly string[];
  readonly key?: string;
  readonly found?: boolean;
  readonly value?: string;
}

export function checkTalk(run: Run): string[] {
  const programs = truthOf(run).filter(({ app }) => app.program === 'talk');
  const isUndisturbed = run.faults.every(({ step }) => step.kind === 'kill' && hitsRanks(step));
  const well = programs.filter(({ process }) => isUndisturbed && process?.end?.status === 0);
  const lines = new Map(programs.map(({ rank }) => [rank, linesOf(textOf(run, rank))]));
  return talkProblems(lines, new Set(well.map(({ rank }) => rank)));
}

/** `lines`: what each rank wrote. `well`: ranks that ended by themselves, on hosts that stayed. */
export function talkProblems(
  lines: ReadonlyMap<number, readonly string[]>, well: ReadonlySet<number>,
): string[] {
  const first = new Map([...lines].map(([rank, own]) => [rank, firstAttempt(own)]));
  return [...orderProblems(first), ...lossProblems(first, well), ...outcomeProblems(first)];
}

/** A rank that was started again begins anew, and does not know the rounds of the others. */
function firstAttempt(own: readonly string[]): Line[] {
  const parsed = own.map((line) => JSON.parse(line) as Line);
  const again = parsed.findIndex(({ attempt }, i) => i > 0 && attempt !== undefined);
  return (again < 0 ? parsed : parsed.slice(0, again)).filter((_, i) => i > 0 || parsed[0]?.attempt === 1);
}

function orderProblems(lines: ReadonlyMap<number, readonly Line[]>): string[] {
  const problems: string[] = [];
  for (const [rank, own] of lines) {
    const next = new Map<string, number>();
    for (const { got, as = '' } of own) {
      if (got === undefined) continue;
      const [from, attempt, number] = as.split(':').map(Number);
      const sender = `${from}:${attempt}`;
      const expected = next.get(sender) ?? 1;
      if (from !== got || number !== expected) {
        problems.push(`rank ${rank} got ${as} of ${got}, the next of it is ${expected}`);
      }
      next.set(sender, (number as number) + 1);
    }
  }
  return problems;
}

function lossProblems(lines: ReadonlyMap<number, readonly Line[]>, well: ReadonlySet<number>): string[] {
  const problems: string[] = [];
  for (const from of well) {
    for (const to of well) {
      const sent = (lines.get(from) ?? []).filter((line) => line.sent === to).length;
      const got = (lines.get(to) ?? []).filter((line) => line.got === from).length;
      if (got !== sent) problems.push(`rank ${to} got ${got} of ${sent} messages of rank ${from}`);
    }
  }
  return problems;
}

function outcomeProblems(lines: ReadonlyMap<number, readonly Line[]>): string[] {
  const problems: string[] = [];
  const outcomes = new Map<string, string>();
  const same = (rank: number, what: string, found: unknown): void => {
    const text = JSON.stringify(found);
    const known = outcomes.get(what) ?? text;
    outcomes.set(what, known);
    if (known !== text) problems.push(`rank ${rank}, ${what}: ${text}, others ${known}`);
  };
  for (const [rank, own] of lines) {
    for (const { kind, root, epoch, round, code, group, parts = [], values = [], key, found, value } of own) {
      if (key !== undefined && (found !== true || value !== key)) problems.push(`rank ${rank}: ${key} is ${value}`);
      if (epoch === undefined) continue;
      const place = `epoch ${epoch}, round ${round ?? 'none'}`;
      same(rank, place, [kind ?? 'shrink', root ?? 0, code, group]);
      if (code !== '' || kind === undefined) continue;
      if (kind !== 'gather' || rank === root) same(rank, `${place}, parts`, [parts, values]);
      const count = { allgather: group, broadcast: 1, gather: rank === root ? group : 0 }[kind] ?? 0;
      const wrong = values.find((text, i) => text !== `${parts[i]}.${epoch}.${round}`);
      if (parts.length !== count || wrong !== undefined) {
        problems.push(`rank ${rank}, ${place}: ${kind} has ${parts.length} parts of ${count}: ${values}`);
      }
    }
  }
  return problems;
}
