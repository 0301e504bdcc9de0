/**
 * Ranks that are started again (errmgr restart): each has at most so many attempts, one at a time, each of them told,
 * and one outcome, that of its last process; its output is that of its attempts, each a prefix of what its program
 * writes, ended by a line end, and the last one whole where it ended by itself.
 */

import type { SimProcess } from '@stci/platform-sim';
import { hostName, stdinBytes } from '../scenarios/job-spec.js';
import { expectedOf, isOutputDetermined } from '../scenarios/programs.js';
import type { Run } from '../worlds/run.js';
import { bytesText } from '../worlds/text.js';
import { rankProcesses, truthOf, type RankTruth } from './truth.js';

export function restartsOf({ options }: Pick<Run, 'options'>): number | undefined {
  const { errmgr, 'errmgr.restart.retries': retries = '3' } = options.settings;
  return errmgr === 'restart' ? Number(retries) : undefined;
}

export function checkRestarts(run: Run, retries: number): string[] {
  const processes = rankProcesses(run);
  return truthOf(run).flatMap((truth) => {
    const own = [...(processes.get(truth.rank) ?? [])].sort((a, b) => a.startMs - b.startMs);
    const problems = [...checkAttempts(run, truth.rank, own, retries), ...checkText(run, truth, own)];
    return problems.map((problem) => `rank ${truth.rank} (${truth.app.program}): ${problem}`);
  });
}

function checkAttempts(run: Run, rank: number, own: readonly SimProcess[], retries: number): string[] {
  const problems: string[] = [];
  problems.push(...checkStarts(run, rank, own, retries));
  own.forEach((process, index) => {
    const before = own[index - 1];
    if (before !== undefined && (before.endMs === undefined || before.endMs > process.startMs)) {
      problems.push(`attempt ${index + 1} was started before the one before it had ended`);
    }
  });
  const report = run.record.report?.ranks.find((each) => each.rank === rank);
  if (report === undefined) return problems;
  const attempts = 1 + (report.earlier?.length ?? 0);
  const told = run.record.events.filter((event) => event.type === 'restarting' && event.report.rank === rank).length;
  // A restart that the end of the job prevents has been told before.
  if (told !== attempts - 1 && told !== attempts) problems.push(`${attempts} attempts, and ${told} restarts were told`);
  if (attempts > retries + 1) problems.push(`${attempts} attempts in the report`);
  const last = own.at(-1);
  if (report.outcome === 'exited' && last?.end?.status !== report.end?.status) {
    problems.push(`status ${report.end?.status} in the report, ${last?.end?.status} in truth`);
  }
  return problems;
}

/** What a session agent started again and could not tell before it was lost, nobody else counts: one start each. */
function checkStarts(run: Run, rank: number, own: readonly SimProcess[], retries: number): string[] {
  const { events, report } = run.record;
  const isLost = (outcome: string | undefined): boolean => outcome === 'lost';
  const losses = events.filter((event) => event.type === 'restarting' && event.report.rank === rank
    && isLost(event.report.outcome)).length + (isLost(report?.ranks[rank]?.outcome) ? 1 : 0);
  const allowed = retries + 1 + losses;
  return own.length > allowed ? [`was started ${own.length} times of ${allowed}, with ${losses} lost agents`] : [];
}

/** Of standard output. Without input: what of it an attempt got is not known. */
function checkText(run: Run, { rank, app }: RankTruth, own: readonly SimProcess[]): string[] {
  const record = run.record.streams.get(`${rank}/stdout`);
  if (record !== undefined && record.ends > 1) return [`its end was reported ${record.ends} times`];
  if (record !== undefined && record.lateBytes > 0) return [`${record.lateBytes} bytes after its end`];
  if (!isOutputDetermined(app) || run.options.stdin.to !== 'none' || own.length === 0) return [];
  const text = (record?.chunks ?? []).map(bytesText).join('');
  const isReported = run.record.report?.ranks[rank]?.outcome === 'exited';
  // Where what is left may begin: of an attempt whose agent was lost, nothing may have arrived.
  let starts = new Set([0]);
  for (const [index, process] of own.entries()) {
    const hostname = process.host || hostName(0);
    const { stdout, end } = expectedOf(app, { rank, hostname, stdin: stdinBytes({ stdinBytes: 0 }) });
    const isWhole = process.end?.status !== undefined && process.end.status === end?.status;
    const mustBeWhole = isReported && index === own.length - 1 && isWhole;
    starts = new Set([...starts].flatMap((start) => endsOf(text, start, bytesText(stdout), mustBeWhole)));
  }
  return starts.has(text.length) ? [] : [`${text.length} bytes are not the output of ${own.length} attempts`];
}

/** Where the output of an attempt that begins at `start` may end: behind each of its lines, or one that was cut. */
function endsOf(text: string, start: number, expected: string, mustBeWhole: boolean): number[] {
  let length = 0;
  while (length < expected.length && text[start + length] === expected[length]) length += 1;
  if (mustBeWhole) return length === expected.length ? [start + length] : [];
  const ends: number[] = [];
  for (let at = start; at <= start + length; at++) {
    if (at === start || text[at - 1] === '\n' || at === text.length) ends.push(at);
    else if (text[at] === '\n') ends.push(at + 1);
  }
  return ends;
}
