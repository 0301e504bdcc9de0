/**
 * One outcome: the process's exit status, the exit report and the `ended` line of `--json` say one exit code, whatever
 * decided it (a rank, a lost host, a signal to the front-end, output that cannot be written).
 */

import type { Run } from '../worlds/run.js';

export function checkOutcome({ record, frontEnd }: Pick<Run, 'record' | 'frontEnd'>): string[] {
  const { report, exitCode } = record;
  // The liveness checker reports a front-end that was killed or never ended.
  if (report === undefined || exitCode === undefined) return [];
  const problems: string[] = [];
  const { status, signal } = frontEnd.end ?? {};
  if (signal === undefined && status !== exitCode) {
    problems.push(`the process ended with ${status}, the run with ${exitCode}`);
  }
  if (report.exitCode !== 0 && report.exitCode !== exitCode) {
    problems.push(`exit code ${exitCode}, though the job had failed with ${report.exitCode}`);
  }
  const last = record.exitReports.at(-1);
  const ofReport = last === undefined ? undefined : exitCodeOf(JSON.parse(last));
  if (ofReport !== exitCode) problems.push(`the exit report says ${ofReport}, the process ended with ${exitCode}`);
  const ended = record.jsonLines.map((line) => JSON.parse(line) as EndedLine).filter(({ type }) => type === 'ended');
  const isDropped = ended.length === 0 && record.isScreenAbandoned;
  if (!isDropped && ended.length !== 1) problems.push(`${ended.length} lines of JSON report the end`);
  for (const line of ended) {
    const code = exitCodeOf(line.report);
    if (code !== exitCode) problems.push(`the JSON says ${code}, the process ended with ${exitCode}`);
  }
  return problems;
}

interface EndedLine {
  readonly type: string;
  readonly report?: unknown;
}

function exitCodeOf(report: unknown): unknown {
  return (report as { readonly exitCode?: unknown } | undefined)?.exitCode;
}
