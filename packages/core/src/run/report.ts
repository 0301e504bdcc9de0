/** Messages at the end of a job: why it failed, and the exit report with a row for each rank. */

import type { ErrorRecord, FailureId, FailureRecord, JobReport, RankReport, StdinTo } from '@stci/interface';
import { alignColumns } from '@stci/registry';
import { foldRanks } from '../iof/fold.js';
import { foldSorted } from '../job/hostset.js';
import { takesStdin } from '../job/stdin.js';
import { recordJson, reportJson, timeOf } from './event-json.js';
import { foldFailures } from './fold-failures.js';
import type { ExitReportJson } from './json-types.js';
import { isOwnFailure } from './outcome.js';
import { recordText } from './record-text.js';

/**
 * Further failures of ranks that the summary names one by one; those of hosts are all named, since each needs a
 * remedy.
 */
const FAILURES_SHOWN = 3;

/** Ranks and streams of which dropped output is told one by one. */
const DROPPED_SHOWN = 4;

export interface FinalLine {
  readonly text: string;
  /** Not an error. */
  readonly isRemark: boolean;
}

/** What an error, or the end of a job, tells of: its failure, or, of the job as a whole or a plugin, what it says. */
export function errorKey({ failure, message }: Pick<ErrorRecord, 'failure' | 'message'>): string {
  return failure ?? message;
}

type Told<Id> = Pick<ReadonlySet<Id>, 'has'>;

/** What was shown before: failures, by `errorKey`, and those of hosts whose records name the ranks that were lost. */
export interface ShownFailures {
  readonly reported: Told<string>;
  readonly recorded: Told<FailureId>;
  /** Names of hosts that did not come up, and without which the job ran. */
  readonly leftOut: ReadonlySet<string>;
}

/** All messages at the end except the exit report. `isHere`: agents of that host run on this machine. */
export function finalLines(
  report: JobReport,
  { reported, recorded, leftOut }: ShownFailures,
  isHere: (host: string) => boolean = () => false,
): readonly FinalLine[] {
  const late = report.failures.some(({ code }) => code === 'STCI_JOB_TIMEOUT' || code === 'STCI_LAUNCH_TIMEOUT');
  const ranks = late ? timeoutState(report) : lostRanks(report, recorded);
  const lines = (texts: readonly string[], isRemark = false): FinalLine[] => texts.map((text) => ({ text, isRemark }));
  return [
    ...lines([...failureSummary(report, reported), ...ranks, ...lostText(report, isHere), ...droppedText(report)]),
    ...lines(leftoverText(report), true),
    ...lines(leftOutText(report, leftOut)),
  ];
}

/** Last, and with --quiet, too: a job that was to have these hosts may look complete without them. */
function leftOutText({ cause }: JobReport, leftOut: ReadonlySet<string>): readonly string[] {
  if (leftOut.size === 0 || cause?.code === 'STCI_LAUNCH_FAILED') return [];
  return [`ran without ${foldSorted(leftOut)}: ${leftOut.size === 1 ? 'it' : 'they'} did not come up`];
}

/** A batch system has taken the hosts: their loss is its doing, and it ends what runs there. */
function isTaken(cause: ErrorRecord | undefined): boolean {
  return cause?.code === 'STCI_ALLOCATION_ENDED';
}

/** Where a batch system takes the hosts: an agent, or a rank that it told to end. */
function isOfTaking({ code, data }: ErrorRecord): boolean {
  const signal = data?.['signal'];
  return code === 'STCI_AGENT_LOST' || (code === 'STCI_TOOL_SIGNAL' && (signal === 'SIGTERM' || signal === 'SIGKILL'));
}

/** Text on the first ranks each, and the sum. */
function droppedText({ dropped = [] }: JobReport): readonly string[] {
  if (dropped.length === 0) return [];
  const sum = dropped.reduce((total, { bytes }) => total + bytes, 0);
  const parts = dropped.slice(0, DROPPED_SHOWN).map((one) => `${one.bytes} of rank ${one.rank} (${one.stream})`);
  if (dropped.length > DROPPED_SHOWN) parts.push('…');
  const text = `${sum} bytes of output were dropped before they could be shown (session.spool.max)`;
  return [`${text}: ${parts.join(', ')}`];
}

/** What ranks left behind and the runtime ended: in their groups, and daemons; without what could not be ended. */
function leftoverText(report: JobReport): readonly string[] {
  const counts = new Map<string, number>();
  const add = (host: string, count: number): void => void counts.set(host, (counts.get(host) ?? 0) + count);
  for (const rank of report.ranks) for (const each of [rank, ...(rank.earlier ?? [])]) add(each.host, each.leftovers);
  for (const [host, count] of survivorsLeftBehind(report)) add(host, -count);
  for (const { host, count } of report.daemons) add(host, count);
  const places = [...counts].filter(([, count]) => count > 0);
  const left = places.reduce((sum, [, count]) => sum + count, 0);
  if (left === 0) return [];
  const hosts = foldSorted(new Set(places.map(([host]) => host)));
  return [`ended ${left} ${left === 1 ? 'process' : 'processes'} that ranks had left behind on ${hosts}`];
}

/** Where input was taken from the caller and no rank has read of it: the lines of a shell's loop are gone. */
export function unreadText({ ranks }: JobReport, stdin: StdinTo): string | undefined {
  const readers = ranks.filter(({ rank }) => takesStdin({ stdin, size: ranks.length }, rank));
  const hasRead = (rank: RankReport): boolean =>
    // Of a lost attempt it is not known.
    [rank, ...(rank.earlier ?? [])].some(({ readInput, outcome }) => readInput === true || outcome === 'lost');
  if (!readers.every((rank) => rank.outcome === 'exited' && !hasRead(rank))) return undefined;
  const [who, whom] = stdin.to === 'rank' ? [`rank ${stdin.rank}`, 'it'] : ['the ranks', 'them'];
  return `${who} read nothing of the standard input that was read for ${whom}; `
    + 'a loop of the shell keeps its own with --stdin none';
}

/** Survivors by host: processes of ranks' groups, but not ranks themselves, that could not be ended. */
function survivorsLeftBehind({ ranks, failures }: JobReport): readonly (readonly [string, number])[] {
  return failures.flatMap(({ code, host = '', data }) => {
    if (code !== 'STCI_TOOL_SURVIVED' || data?.['pids'] === undefined) return [];
    const own = new Set(ranks.flatMap((rank) => (rank.host === host ? [String(rank.pid)] : [])));
    return [[host, String(data['pids']).split(',').filter((pid) => !own.has(pid)).length] as const];
  });
}

/**
 * A lost agent's programs are ended by it or its guardian, unless both were killed; that of a host that was removed is
 * not. What SIGKILL could not end has its own failure with a remedy.
 */
function lostText({ ranks, cause }: JobReport, isHere: (host: string) => boolean): readonly string[] {
  const isLost = ({ outcome, pid, error }: RankReport): boolean =>
    outcome === 'lost' && pid !== 0 && error?.code !== 'STCI_TOOL_SURVIVED' && error?.data?.['removed'] !== true;
  const lost = [...new Set(ranks.filter(isLost).map(({ host }) => host))];
  const text = (names: readonly string[], option: (hosts: string) => string): readonly string[] => {
    if (names.length === 0 || isTaken(cause)) return [];
    const hosts = foldSorted(new Set(names));
    return [`programs on ${hosts} may still run: 'stci doctor --clean${option(hosts)}' ends those of this user`];
  };
  return [
    ...text(lost.filter(isHere), () => ''),
    ...text(lost.filter((host) => !isHere(host)), (hosts) => ` --host ${hosts}`),
  ];
}

/** Lines for standard error where the job failed; empty where it did not. */
function failureSummary(report: JobReport, reported: Told<string>): readonly string[] {
  if (report.cause === undefined) return [];
  const { cause } = report;
  const lines: string[] = [];
  const isTold = (error: ErrorRecord): boolean => reported.has(errorKey(error));
  if (isTold(cause)) {
    const count = report.failures.filter(isTold).length;
    const [first] = withHosts(cause).split('\n', 1);
    // Of a host that failed several times the report holds one failure.
    const failures = isOfHost(cause) ? '' : `${count} failures; `;
    if (count > 1) lines.push(`${failures}exit code ${report.exitCode} is that of the first failure: ${first}`);
  } else if (!isOwnFailure(cause) && !isOfHost(cause)) lines.push(withHosts(cause, [cause, ...report.failures]));
  const isNews = (failure: ErrorRecord): boolean =>
    failure.message !== cause.message && !isTold(failure) && !isOwnFailure(failure)
    && !(isTaken(cause) && isOfTaking(failure));
  const others = report.failures.filter(isNews);
  const first = !isTold(cause) && isOfHost(cause) && !isOwnFailure(cause) ? [cause] : [];
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

/** The message with the hosts that it holds for: in place of `this host`, or behind it where it names none. */
export function withHosts(cause: ErrorRecord, failures: readonly ErrorRecord[] = [cause]): string {
  const same = failures.filter(({ message }) => message === cause.message);
  const names = new Set(same.flatMap(({ host }) => host ?? []));
  if (names.size === 0) return cause.message;
  const hosts = `${names.size === 1 ? 'host' : 'hosts'} ${foldSorted(names)}`;
  if (cause.message.includes('this host')) return cause.message.replace('this host', hosts);
  return [...names].some((name) => cause.message.includes(name)) ? cause.message : `${cause.message} (${hosts})`;
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

/** A lost host's failure names its agent; these are the ranks that it had, and none has in its place. */
function lostRanks({ ranks, failures }: JobReport, recorded: Told<FailureId>): readonly string[] {
  const hosts = new Set(failures.flatMap(({ code, rank, host }) =>
    (code === 'STCI_AGENT_LOST' && rank === undefined && host !== undefined ? [host] : [])));
  const isRecorded = ({ failure }: RankReport): boolean => failure !== undefined && recorded.has(failure);
  const lost = ranks.filter((rank) => rank.outcome === 'lost' && hosts.has(rank.host) && !isRecorded(rank));
  return lost.length === 0 ? [] : [`lost: ${rankList(lost)}`];
}

function rankList(ranks: readonly RankReport[]): string {
  const word = ranks.length === 1 ? 'rank' : 'ranks';
  const hosts = foldSorted(ranks.map((rank) => rank.host));
  return `${word} ${foldRanks(ranks.map((rank) => rank.rank))} on ${hosts}`;
}

/** Of the exit report. */
const COLUMNS: Readonly<Record<string, (rank: RankReport) => string | number | undefined>> = {
  rank: ({ rank }) => rank,
  host: ({ host }) => host,
  pid: ({ pid }) => (pid === 0 ? undefined : pid),
  outcome: ({ outcome }) => outcome,
  status: ({ end }) => end?.status,
  signal: ({ end }) => end?.signal,
  start: ({ startWallMs }) => timeOf(startWallMs),
  end: ({ endWallMs }) => timeOf(endWallMs),
  duration: ({ startWallMs = NaN, endWallMs = NaN }) => {
    const durationMs = Math.max(0, endWallMs - startWallMs);
    return Number.isNaN(durationMs) ? undefined : `${(durationMs / 1000).toFixed(3)}s`;
  },
  leftovers: ({ leftovers }) => leftovers,
  attempts: ({ earlier = [] }) => 1 + earlier.length,
};

/** `records`: of the failures, in the order in which they were told. */
export function exitReport(
  report: JobReport,
  format: 'text' | 'json',
  records: readonly FailureRecord[] = [],
): string {
  if (format === 'json') {
    const failureRecords = records.length > 0 && { failureRecords: records.map(recordJson) };
    const json: ExitReportJson = { ...reportJson(report), ...failureRecords };
    return `${JSON.stringify(json, undefined, 2)}\n`;
  }
  const row = (rank: RankReport): string[] => Object.values(COLUMNS).map((of) => String(of(rank) ?? '-'));
  const rows = [Object.keys(COLUMNS), ...report.ranks.map(row)];
  const daemons = report.daemons.map(({ host, count }) => `daemons ended on ${host}: ${count}\n`).join('');
  const dropped = (report.dropped ?? [])
    .map(({ rank, stream, bytes }) => `output dropped of rank ${rank} (${stream}): ${bytes} bytes\n`).join('');
  const failures = records.map((record) => `${recordText(record)}\n`).join('');
  return `${alignColumns(rows).join('\n')}\n${daemons}${dropped}${failures}job exit code ${report.exitCode}\n`;
}

/** How a rank ended, for a step of `--verbose`. */
export function endText({ outcome, end }: { outcome: string; end?: { status?: number; signal?: string } }): string {
  if (end?.signal !== undefined) return `${outcome}, ${end.signal}`;
  return end?.status === undefined ? outcome : `${outcome}, status ${end.status}`;
}
