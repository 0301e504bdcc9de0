/** The job's events and report as JSON (`--json`, `--exit-report=json`): hosts by name, times in ISO format. */

import {
  printable, type HostIndex, type JobEvent, type JobId, type JobReport, type RankAttempt, type RankReport,
} from '@stci/interface';
import { isoTime } from '../iof/label.js';
import type { AttemptJson, EventJson, RankJson, ReportJson } from './json-types.js';
import { recordJson } from './record-text.js';

/** When an event came, for a file of events. */
export interface EventTime {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** One object and a newline. `job`: of a session's several. */
export function eventJson(
  event: JobEvent, hostName: (host: HostIndex) => string, at?: EventTime, job?: JobId,
): string {
  const { type, ...rest } = eventObject(event, hostName);
  const times = at !== undefined && { at: isoTime(at.wallMs), monotonicMs: Math.round(at.monotonicMs * 1000) / 1000 };
  return printable(`${JSON.stringify({ type, ...times, ...(job !== undefined && { job }), ...rest })}\n`);
}

function eventObject(event: JobEvent, hostName: (host: HostIndex) => string): EventJson {
  switch (event.type) {
    case 'host-up':
    case 'recovery':
      return { ...event, host: event.name };
    case 'member': {
      const { wallMs, name, ...rest } = event;
      return { ...rest, host: name, time: isoTime(wallMs) };
    }
    case 'mark':
    case 'started': {
      const { wallMs, host, ...rest } = event;
      return { ...rest, host: hostName(host), time: isoTime(wallMs) };
    }
    case 'restarting': {
      const { report, host, ...rest } = event;
      return { ...rest, ...rankJson(report), ...(host !== undefined && { next: hostName(host) }) };
    }
    case 'exited':
      return { type: event.type, ...rankJson(event.report) };
    case 'failure-record':
      return { type: event.type, ...recordJson(event.record) };
    case 'ended':
      return { type: event.type, report: reportJson(event.report) };
    default:
      return { ...event };
  }
}

export function reportJson(report: JobReport): ReportJson {
  const { submitWallMs, endWallMs, ranks, ...rest } = report;
  return { ...rest, submitted: isoTime(submitWallMs), ended: isoTime(endWallMs), ranks: ranks.map(rankJson) };
}

function rankJson({ earlier, startWallMs, endWallMs, end, ...rest }: RankReport): RankJson {
  const ended = endJson({ startWallMs, endWallMs, end });
  return { ...rest, ...ended, ...(earlier !== undefined && { earlier: earlier.map(attemptJson) }) };
}

function attemptJson({ startWallMs, endWallMs, end, ...rest }: RankAttempt): AttemptJson {
  return { ...rest, ...endJson({ startWallMs, endWallMs, end }) };
}

type EndName = 'status' | 'signal' | 'start' | 'end' | 'durationMs';
type EndFacts = { readonly [Name in 'startWallMs' | 'endWallMs' | 'end']: RankAttempt[Name] | undefined };

function endJson({ startWallMs, endWallMs, end }: EndFacts): Pick<AttemptJson, EndName> {
  const known = startWallMs !== undefined && endWallMs !== undefined;
  return {
    ...(end?.status !== undefined && { status: end.status }),
    ...(end?.signal !== undefined && { signal: end.signal }),
    ...(startWallMs !== undefined && { start: isoTime(startWallMs) }),
    ...(endWallMs !== undefined && { end: isoTime(endWallMs) }),
    ...(known && { durationMs: Math.max(0, Math.round(endWallMs - startWallMs)) }),
  };
}
