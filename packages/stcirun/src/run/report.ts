/** What is told of a job at its end: why it failed, in plain words, and the exit report, a row a rank. */

import { foldHostlist } from '@stci/core';
import { foldRanks, isoTime } from '@stci/core/iof';
import type { ErrorRecord, JobReport, RankReport } from '@stci/interface';
import { reportJson } from '../output/json-sink.js';

/** Further failures that the summary names one by one: of ranks, and of hosts, which are each a thing to mend. */
const FAILURES_SHOWN = 3;
const HOST_FAILURES_SHOWN = 64;

/** Lines for standard error where the job failed; empty where it did not. */
export function failureSummary(report: JobReport): readonly string[] {
  if (report.cause === undefined) return [];
  const { cause } = report;
  const at = cause.host === undefined || cause.message.includes(cause.host) ? '' : ` (host ${cause.host})`;
  const lines = [`${cause.message}${at}`];
  const others = report.failures.filter((failure) => failure !== cause && failure.message !== cause.message);
  const shown = [
    ...others.filter(isOfHost).slice(0, HOST_FAILURES_SHOWN),
    ...others.filter((failure) => !isOfHost(failure)).slice(0, FAILURES_SHOWN),
  ];
  for (const other of shown) lines.push(`also: ${other.message}`);
  const rest = others.filter((failure) => !shown.includes(failure));
  if (rest.length > 0) {
    const ranks = rest.flatMap((failure) => (failure.rank === undefined ? [] : [failure.rank]));
    const which = ranks.length === 0 ? '' : ` (ranks ${foldRanks(ranks)})`;
    lines.push(`and ${rest.length} more failures${which}; --exit-report=json shows all`);
  }
  return lines;
}

function isOfHost({ code, rank }: ErrorRecord): boolean {
  return rank === undefined && (code === 'STCI_LAUNCH_FAILED' || code === 'STCI_AGENT_LOST');
}

/** Which ranks were still at work when a time limit ended the job. */
export function timeoutState(report: JobReport): readonly string[] {
  const running = report.ranks.filter((rank) => rank.outcome === 'ended' || rank.outcome === 'lost');
  const missing = report.ranks.filter((rank) => rank.outcome === 'not-started');
  const done = report.ranks.length - running.length - missing.length;
  return [
    ...(running.length > 0 ? [`still running: ${whoText(running)}`] : []),
    ...(missing.length > 0 ? [`never started: ${whoText(missing)}`] : []),
    ...(done > 0 ? [`ended before: ${done} of ${report.ranks.length} ranks`] : []),
  ];
}

function whoText(ranks: readonly RankReport[]): string {
  const word = ranks.length === 1 ? 'rank' : 'ranks';
  const hosts = foldHostlist(new Set(ranks.map((rank) => rank.host)));
  return `${word} ${foldRanks(ranks.map((rank) => rank.rank))} on ${hosts}`;
}

const COLUMNS = [
  'rank', 'host', 'pid', 'outcome', 'status', 'signal', 'start', 'end', 'duration', 'leftovers',
] as const;

export function exitReport(report: JobReport, format: 'text' | 'json'): string {
  if (format === 'json') return `${JSON.stringify(reportJson(report), undefined, 2)}\n`;
  const rows = [COLUMNS as readonly string[], ...report.ranks.map(row)];
  const widths = COLUMNS.map((_, i) => Math.max(...rows.map((cells) => (cells[i] as string).length)));
  const lines = rows.map((cells) => cells.map((cell, i) => cell.padEnd(widths[i] as number)).join('  ').trimEnd());
  return `${lines.join('\n')}\njob exit code ${report.exitCode}\n`;
}

function row(rank: RankReport): readonly string[] {
  const { startWallMs, endWallMs } = rank;
  const durationMs = startWallMs === undefined || endWallMs === undefined ? undefined : endWallMs - startWallMs;
  return [
    String(rank.rank),
    rank.host,
    rank.pid === 0 ? '-' : String(rank.pid),
    rank.outcome,
    rank.end?.status === undefined ? '-' : String(rank.end.status),
    rank.end?.signal ?? '-',
    startWallMs === undefined ? '-' : isoTime(startWallMs),
    endWallMs === undefined ? '-' : isoTime(endWallMs),
    durationMs === undefined ? '-' : `${(Math.max(0, durationMs) / 1000).toFixed(3)}s`,
    String(rank.leftovers),
  ];
}
