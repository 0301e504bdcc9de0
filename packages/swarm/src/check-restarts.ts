/**
 * Ranks that are started again (errmgr restart): each has at most so many attempts, one at a time, each of them told,
 * and one outcome, that of its last process; its output is that of its attempts, each a prefix of what its program
 * writes, ended by a line end, and the last one whole where it ended by itself.
 */

import type { SimProcess } from '@stci/platform-sim';
import { hostName, stdinBytes } from './job-spec.js';
import { expectedOf, isOutputDetermined } from './programs.js';
import type { Run } from './run.js';
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
  // What a session agent started again and could not tell before it was lost, nobody else counts.
  const untold = run.record.events.some((event) =>
    event.type === 'restarting' && event.report.rank === rank && event.report.outcome === 'lost') ? own.length : 0;
  if (own.length > retries + 1 + untold) problems.push(`was started ${own.length} times of ${retries + 1}`);
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

/** Of standard output. Without input: what of it an attempt got is not known. */
function checkText(run: Run, { rank, app }: RankTruth, own: readonly SimProcess[]): string[] {
  const record = run.record.streams.get(`${rank}/stdout`);
  if (record !== undefined && record.ends > 1) return [`its end was reported ${record.ends} times`];
  if (record !== undefined && record.lateBytes > 0) return [`${record.lateBytes} bytes after its end`];
  if (!isOutputDetermined(app) || run.options.stdin.to !== 'none' || own.length === 0) return [];
  let rest = (record?.chunks ?? []).map(textOf).join('');
  for (const [index, process] of own.entries()) {
    const hostname = process.host || hostName(0);
    const { stdout, end } = expectedOf(app, { rank, hostname, stdin: stdinBytes({ stdinBytes: 0 }) });
    const expected = textOf(stdout);
    let length = 0;
    while (length < expected.length && rest[length] === expected[length]) length += 1;
    // Lines begin alike: what follows the last whole one may be the next attempt's.
    if (length < expected.length && rest[length] !== '\n') length = rest.lastIndexOf('\n', length - 1) + 1;
    const isLast = index === own.length - 1;
    const isWhole = process.end?.status !== undefined && process.end.status === end?.status;
    const isReported = run.record.report?.ranks[rank]?.outcome === 'exited';
    if (isLast && isWhole && isReported && length < expected.length) return [`${length} bytes of its last attempt`];
    rest = rest.slice(length);
    if (length < expected.length && rest.startsWith('\n')) rest = rest.slice(1);
  }
  return rest === '' ? [] : [`${rest.length} bytes that no attempt wrote`];
}

/** Programs write one byte a character. */
function textOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => String.fromCharCode(byte)).join('');
}
