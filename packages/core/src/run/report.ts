/** Messages at the end of a job: why it failed, and the exit report with a row for each rank. */

import { EXIT } from '@stci/interface';
import type { ErrorRecord, JobReport, RankReport } from '@stci/interface';
import { foldRanks } from '../iof/fold.js';
import { isoTime } from '../iof/label.js';
import { foldSorted } from '../job/hostset.js';
import { reportJson } from './event-json.js';
import { foldFailures } from './fold-failures.js';
import { isOwnFailure } from './outcome.js';

/**
 * Further failures of ranks that the summary names one by one; those of hosts are all named, since each needs a
 * remedy.
 */
const FAILURES_SHOWN = 3;

export interface FinalLine {
  readonly text: string;
  /** Not an error. */
  readonly isRemark: boolean;
}

/** All messages at the end except the exit report. `reported`: messages of failures that were shown before. */
export function finalLines(report: JobReport, reported: ReadonlySet<string>): readonly FinalLine[] {
  const late = report.exitCode === EXIT.jobTimeout || report.exitCode === EXIT.launchTimeout;
  const errors = [...failureSummary(report, reported), ...(late ? timeoutState(report) : [])];
  return [
    ...[...errors, ...lostText(report)].map((text) => ({ text, isRemark: false })),
    ...leftoverText(report).map((text) => ({ text, isRemark: true })),
  ];
}

/** What ranks left behind and the runtime ended: in their groups, and daemons. */
function leftoverText({ ranks, daemons }: JobReport): readonly string[] {
  const places = [...ranks.map(({ host, leftovers }) => ({ host, count: leftovers })), ...daemons];
  const left = places.reduce((sum, { count }) => sum + count, 0);
  if (left === 0) return [];
  const hosts = foldSorted(places.filter(({ count }) => count > 0).map(({ host }) => host));
  return [`ended ${left} ${left === 1 ? 'process' : 'processes'} that ranks had left behind on ${hosts}`];
}

/** A lost agent or its guardian normally ends its programs; if both were killed, the programs still run. */
function lostText({ ranks }: JobReport): readonly string[] {
  const lost = ranks.filter(({ outcome, pid }) => outcome === 'lost' && pid !== 0);
  if (lost.length === 0) return [];
  const hosts = foldSorted(lost.map(({ host }) => host));
  return [
    `programs on ${hosts} may still run: 'stci doctor --clean --host ${hosts}' ends them`
      + ' (for agents of this machine without --host)',
  ];
}

/** Lines for standard error where the job failed; empty where it did not. */
function failureSummary(report: JobReport, reported: ReadonlySet<string> = new Set()): readonly string[] {
  if (report.cause === undefined) return [];
  const { cause } = report;
  const lines: string[] = [];
  if (reported.has(cause.message)) {
    const code = `exit code ${report.exitCode} is that of the first: ${cause.message}`;
    if (reported.size > 1) lines.push(`${reported.size} failures; ${code}`);
  } else if (!isOwnFailure(cause) && !isOfHost(cause)) lines.push(`${cause.message}${hostText(cause)}`);
  const isUnreported = (failure: ErrorRecord): boolean =>
    failure.message !== cause.message && !reported.has(failure.message) && !isOwnFailure(failure);
  const others = report.failures.filter(isUnreported);
  const first = lines.length === 0 && isOfHost(cause) && !isOwnFailure(cause) ? [cause] : [];
  const ofHosts = foldFailures([...first, ...others.filter(isOfHost)]);
  const shown = others.filter((failure) => !isOfHost(failure)).slice(0, FAILURES_SHOWN);
  for (const text of [...ofHosts, ...shown.map(({ message }) => message)]) {
    lines.push(lines.length === 0 ? text : `also: ${text}`);
  }
  const rest = others.filter((failure) => !isOfHost(failure) && !shown.includes(failure));
  if (rest.length > 0) {
    const ranks = rest.flatMap((failure) => (failure.rank === undefined ? [] : [failure.rank]));
    const which = ranks.length === 0 ? '' : ` (ranks ${foldRanks(ranks)})`;
    lines.push(`and ${rest.length} more failures${which}; --exit-report=json shows all`);
  }
  return lines;
}

function hostText({ host, message }: ErrorRecord): string {
  return host === undefined || message.includes(host) ? '' : ` (host ${host})`;
}

function isOfHost({ code, rank }: ErrorRecord): boolean {
  return rank === undefined && (code === 'STCI_LAUNCH_FAILED' || code === 'STCI_AGENT_LOST');
}

/** Which ranks were still at work when a time limit ended the job. */
function timeoutState(report: JobReport): readonly string[] {
  const running = report.ranks.filter((rank) => rank.outcome === 'ended' || rank.outcome === 'lost');
  const missing = report.ranks.filter((rank) => rank.outcome === 'not-started');
  const done = report.ranks.length - running.length - missing.length;
  return [
    ...(running.length > 0 ? [`still running: ${rankList(running)}`] : []),
    ...(missing.length > 0 ? [`never started: ${rankList(missing)}`] : []),
    ...(done > 0 ? [`ended before: ${done} of ${report.ranks.length} ranks`] : []),
  ];
}

function rankList(ranks: readonly RankReport[]): string {
  const word = ranks.length === 1 ? 'rank' : 'ranks';
  const hosts = foldSorted(ranks.map((rank) => rank.host));
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
  const daemons = report.daemons.map(({ host, count }) => `daemons ended on ${host}: ${count}\n`).join('');
  return `${lines.join('\n')}\n${daemons}job exit code ${report.exitCode}\n`;
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
