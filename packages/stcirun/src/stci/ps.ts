/** `stci ps`: sessions, their jobs, a job's ranks. */

import * as Args from '@oclif/core/args';
import { alignColumns, counted, cut } from '@stci/core';
import type { HostStatus, JobStatus, RankStatus, SessionStatus } from '@stci/core/session';
import { StciError, printable } from '@stci/interface';
import { isTerminal } from '../process/descriptor.js';
import { jsonText, printOut } from '../process/print.js';
import { commonFlags } from './base.js';
import { askRanks, askStatus, hostState } from '../session/ask.js';
import { isSessionName, jobName, matchSession } from '../session/session-name.js';
import {
  connectToJob, JOB_ARGUMENT, openSessions, SESSION_ARGUMENT, sessionFlags, StciCommand, twoSessions, type Sessions,
} from './session-command.js';

/** Row of one session: what it tells, or why it does not. */
export interface SessionRow {
  readonly name: string;
  /** The session's process has ended. */
  readonly isGone: boolean;
  readonly status?: SessionStatus;
  readonly problem?: string;
}

const LABEL_CHARS = 40;
const REASON_CHARS = 80;
/** Rows of hosts that are shown. */
const HOSTS_MAX = 20;

export class PsCommand extends StciCommand {
  static override readonly summary = 'sessions, their jobs; of one job its ranks';
  static override readonly synopsis = '[SESSION|JOB] [--session NAME] [--json]';
  static override readonly page = 'sessions.md';
  static override readonly details = `
Examples:
  stci ps                all sessions and their jobs
  stci ps night          one session and its jobs
  stci ps night.3        the ranks of one job
`;

  static override args = {
    job: Args.string({
      ignoreStdin: true, description: `of a session: ${SESSION_ARGUMENT}; of a job: ${JOB_ARGUMENT}`,
    }),
  };
  static override flags = { json: commonFlags.json, ...sessionFlags };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(PsCommand);
    const sessions = await openSessions(flags);
    const [named, jobNamed] = args.job !== undefined && isSessionName(args.job) ? [args.job] : [undefined, args.job];
    if (named !== undefined && flags.session !== undefined) {
      throw twoSessions(named, flags.session);
    }
    if (jobNamed !== undefined) {
      const { facts, client, job } = await connectToJob(sessions, jobNamed, flags.session);
      const ranks = await askRanks(client, job);
      client.close();
      printOut(flags.json ? jsonText({ session: facts.name, job, ranks }) : ranksText(ranks));
      return 0;
    }
    const rows = await readSessions(sessions, chosenSession(sessions, named ?? flags.session), true);
    const objects = rows.map(({ name, status, problem }) => ({ name, problem, ...status }));
    if (flags.json) printOut(jsonText({ sessions: objects }));
    else printOut(sessionsText(rows, sessions.platform.clock.wallMs(), isTerminal(1)));
    return 0;
  }
}

/** The name of the session that is meant; undefined: all. Throws STCI_SESSION_UNKNOWN. */
export function chosenSession({ place }: Sessions, wanted: string | undefined): string | undefined {
  return wanted === undefined ? undefined : matchSession(wanted, place.list().map(({ name }) => name), '--session');
}

/** Rows of all sessions, or of one. `tells`: the user sees them, so that those that are gone need not be told again. */
export async function readSessions(
  sessions: Sessions, only: string | undefined, tells: boolean,
): Promise<readonly SessionRow[]> {
  const { connectSession, goneText } = await import('../session/connect.js');
  const { place } = sessions;
  const chosen = place.list().filter(({ name }) => only === undefined || name === only);
  return Promise.all(chosen.map(async (entry): Promise<SessionRow> => {
    const { name } = entry;
    const row = { name, isGone: entry.state === 'gone' };
    if (entry.state === 'invalid') return { ...row, problem: entry.reason };
    if (entry.state === 'gone') return { ...row, problem: goneText(entry, tells ? place.tell(entry) : undefined) };
    try {
      const client = connectSession(place, entry.facts, sessions);
      const status = await askStatus(client);
      client.close();
      return { ...row, status };
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      return { ...row, problem: thrown.message };
    }
  }));
}

/** `isCut`: long texts are cut, for a screen. */
export function sessionsText(rows: readonly SessionRow[], nowMs: number, isCut: boolean): string {
  if (rows.length === 0) return "no session; 'stci start' starts one\n";
  return rows.map(({ name, status, problem }) => {
    if (status === undefined) return `${name}: ${problem}\n`;
    const present = status.hosts.filter(({ state }) => state !== 'left');
    const up = present.filter(({ state }) => state === 'up').length;
    const used = present.reduce((sum, host) => sum + host.used, 0);
    const hosts = `${up} of ${counted(present.length, 'host')} up, ${counted(used, 'rank')}`;
    const head = `${name}: ${hosts}${status.isStopping ? ', stopping' : ''}\n`;
    const fit = (text: string, chars: number): string => cut(oneLine(text), isCut ? chars : Infinity);
    return head + hostsText(present, fit) + jobsText(name, status.jobs, nowMs, fit);
  }).join('\n');
}

type Fit = (text: string, chars: number) => string;

function oneLine(text: string): string {
  return printable(text).trim().replaceAll(/\s*\n\s*/gu, ' ');
}

/** Hosts with which something is the matter, while others are up. */
function hostsText(hosts: readonly HostStatus[], fit: Fit): string {
  const noted = hosts.filter(({ state, isDraining }) => state !== 'up' || isDraining);
  if (noted.length === 0 || noted.every(({ state }) => state === 'planned' || state === 'starting')) return '';
  const head = ['host', 'state', 'incarnation', 'ranks', 'reason'];
  const rows = noted.slice(0, HOSTS_MAX).map((host) => [
    printable(host.spec.name),
    hostState(host),
    String(host.incarnation),
    String(host.used),
    fit(host.evidence, REASON_CHARS),
  ]);
  const rest = noted.length - rows.length;
  const more = rest > 0 ? `  … and ${counted(rest, 'more host')}; --json shows all\n` : '';
  return alignColumns([head, ...rows]).map((line) => `  ${line.trimEnd()}\n`).join('') + more;
}

function jobsText(session: string, jobs: readonly JobStatus[], nowMs: number, fit: Fit): string {
  if (jobs.length === 0) return '';
  const head = ['job', 'state', 'ranks', 'hosts', 'time', 'front-ends', 'output', 'program'];
  const rows = jobs.map((job) => [
    job.job === 0 ? '-' : jobName(session, job.job),
    job.state === 'ended' ? `ended ${job.exitCode}` : job.state,
    job.state === 'running' ? `${job.running}/${job.ranks}` : String(job.ranks),
    String(job.hosts),
    timeText((job.endWallMs ?? nowMs) - job.submitWallMs),
    String(job.followers),
    bytesText(job.outputBytes) + (job.droppedBytes > 0 ? ` (${bytesText(job.droppedBytes)} dropped)` : ''),
    fit(job.label, LABEL_CHARS),
  ]);
  return alignColumns([head, ...rows]).map((line) => `  ${line}\n`).join('');
}

function ranksText(ranks: readonly RankStatus[]): string {
  const rows = ranks.map(({ rank, host, pid, state, end }) =>
    [String(rank), host, String(pid), `${state} ${end?.signal ?? end?.status ?? ''}`.trim()]);
  return `${alignColumns([['rank', 'host', 'pid', 'state'], ...rows]).join('\n')}\n`;
}

export function timeText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
