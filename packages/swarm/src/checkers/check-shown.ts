/**
 * What a session's front-ends showed of each rank. One that looks at a job goes on where those before it had got to:
 * with what they had not shown for good, without a gap. What is missing, it was told.
 */

import type { Expected } from '../scenarios/programs.js';
import {
  expectedOfRank, killedHosts, nameOf, reportOf, type FrontEndRun, type SessionRun,
} from '../worlds/session-record.js';
import { bytesText } from '../worlds/text.js';

/** So much is kept in memory, whoever has shown it: 64 KiB with what each record takes besides. */
const KEPT_BYTES = 16 * 1024;
/** A front-end may have followed the job so long after the end of its process, or before its start, ms. */
const MARGIN_MS = 50;

/** Where in the output of a rank something may begin. */
interface Range {
  readonly low: number;
  readonly high: number;
}

interface Shown {
  readonly run: FrontEndRun;
  /** Behind what was shown for good, and behind all that it got. */
  readonly place: Range;
}

export function checkShown(session: SessionRun): string[] {
  const problems: string[] = [];
  const hosts = hostsOf(session);
  for (const [job, ranks] of hosts) {
    const viewers = session.frontEnds
      .filter(({ plan }) => plan.job === job && (plan.kind === 'submit' || plan.kind === 'attach'))
      .sort((a, b) => a.process.startMs - b.process.startMs);
    // Then output that somebody has shown is dropped.
    const ends = viewers.filter((run) => reportOf(run) !== undefined).map(({ record }) => record.reportMs ?? 0);
    const endMs = Math.min(...ends);
    const killed = killedHosts(session);
    const expected = ranks.map((host, rank) => expectedOfRank(session, job, rank, host));
    const total = expected.reduce((sum, { stdout, stderr }) => sum + stdout.length + stderr.length, 0);
    for (const [rank, host] of ranks.entries()) {
      for (const stream of ['stdout', 'stderr'] as const) {
        const text = bytesText((expected[rank] as Expected)[stream]);
        const keptMs = total <= KEPT_BYTES ? endMs : 0;
        const source = { rank, stream, text, isWhole: !killed.has(host), keptMs };
        problems.push(...checkSource(viewers, source).map((problem) => `${problem} (rank ${rank} ${stream})`));
      }
    }
  }
  return problems;
}

/** The host of each rank, of the jobs whose end somebody saw. */
function hostsOf({ frontEnds }: SessionRun): Map<number, readonly string[]> {
  const hosts = new Map<number, readonly string[]>();
  for (const run of frontEnds) {
    const report = reportOf(run);
    if (report === undefined || report.ranks.length === 0) continue;
    const names = [...report.ranks].sort((a, b) => a.rank - b.rank).map(({ host }) => host);
    hosts.set(run.plan.job, names);
  }
  return hosts;
}

interface Source {
  readonly rank: number;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  /** Its host was not hit. */
  readonly isWhole: boolean;
  /** Until then all of the job's output is kept. */
  readonly keptMs: number;
}

function checkSource(viewers: readonly FrontEndRun[], source: Source): string[] {
  const problems: string[] = [];
  const before: Shown[] = [];
  for (const run of viewers) {
    const after = viewers.slice(before.length + 1);
    const isFirst = after.every(({ process }) => attachedMs(run) + MARGIN_MS < process.startMs);
    const begin = beginOf(run, before, isFirst, source);
    const [problem, place] = follow(run, begin, source);
    if (problem !== undefined) problems.push(`${nameOf(run)}: ${problem}`);
    before.push({ run, place });
  }
  return problems;
}

/** At the latest. */
const attachedMs = ({ record }: FrontEndRun): number => record.acceptedMs ?? Infinity;

/** Where its output may begin. `isFirst`: those that started after it attached after it, too. */
function beginOf(run: FrontEndRun, before: readonly Shown[], isFirst: boolean, source: Source): Range {
  const { plan, process, hasMissed } = run;
  if (plan.kind === 'submit') return { low: 0, high: hasMissed ? source.text.length : 0 };
  const anywhere = { low: 0, high: source.text.length };
  if (plan.all) return attachedMs(run) + MARGIN_MS < source.keptMs && !hasMissed ? { low: 0, high: 0 } : anywhere;
  // Where others look at it, too, it begins behind what they were sent.
  const isAlone = before.every((one) => (one.run.process.endMs ?? Infinity) + MARGIN_MS <= process.startMs);
  if (!isFirst || !isAlone) return anywhere;
  const low = Math.max(0, ...before.map(({ place }) => place.low));
  return { low, high: hasMissed ? source.text.length : Math.max(0, ...before.map(({ place }) => place.high)) };
}

/** Finds what it got in the text; returns what is wrong, and its place at the end. */
function follow(run: FrontEndRun, begin: Range, source: Source): readonly [string | undefined, Range] {
  const shown = run.record.streams.get(`${source.rank}/${source.stream}`);
  const bytes = shown?.bytes ?? 0;
  const isComplete = reportOf(run) !== undefined;
  if (bytes === 0) return [isComplete && source.isWhole ? checkEnd(run, begin, source, '') : undefined, begin];
  const chunks = (shown?.chunks ?? []).map(bytesText);
  // Where something was dropped there may be a gap between any two.
  const pieces = run.hasMissed ? chunks : [chunks.join('')];
  let at = begin.low;
  for (const piece of pieces) {
    const found = source.text.indexOf(piece, at);
    const isFirst = piece === pieces[0];
    if (found < 0 || (isFirst && found > begin.high)) {
      const wrong = `'${piece.slice(0, 40)}' is not what comes next at ${at}`;
      return [wrong, { low: begin.low, high: source.text.length }];
    }
    at = found + piece.length;
  }
  // Only one that left in order has shown for good what it got.
  const isGraceful = run.plan.leave?.how === 'detach' || isComplete;
  const low = isGraceful ? at - (bytes - (shown?.released ?? 0)) : begin.low;
  const problem = isComplete && source.isWhole ? checkEnd(run, begin, source, pieces.at(-1) as string) : undefined;
  return [problem, { low: Math.max(begin.low, low), high: Math.max(begin.high, at) }];
}

/** It saw the end of the job: all came, or was reported as dropped. */
function checkEnd(run: FrontEndRun, begin: Range, { rank, stream, text }: Source, last: string): string | undefined {
  const { bytes = 0, ends = 0 } = run.record.streams.get(`${rank}/${stream}`) ?? {};
  const dropped = reportOf(run)?.dropped?.find((each) => each.rank === rank && each.stream === stream)?.bytes ?? 0;
  if (begin.high === 0 && bytes + dropped !== text.length) {
    return `${bytes} bytes came and ${dropped} were reported as dropped, of ${text.length}`;
  }
  if (dropped === 0 && !text.endsWith(last)) return `it ends with '${last.slice(-40)}'`;
  // It may have been dropped: with what was before it, or with output of other ranks alone.
  return bytes > 0 && ends !== 1 && !(ends === 0 && run.hasMissed) ? `its end was told ${ends} times` : undefined;
}
