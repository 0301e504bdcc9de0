/** The job's events and report as JSON (`--json`, `--exit-report=json`): hosts by name, times in ISO format. */

import {
  defined, printable, type FailureRecord, type HostIndex, type JobEvent, type JobId, type JobReport, type RankAttempt,
  type RankReport,
} from '@stci/interface';
import { isoTime } from '../iof/label.js';
import type { AttemptJson, EventJson, RankJson, RecordJson, ReportJson } from './json-types.js';

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

function rankJson({ earlier, ...last }: RankReport): RankJson {
  return { ...attemptJson(last), ...defined({ earlier: earlier?.map(attemptJson) }) };
}

type EndName = 'status' | 'signal' | 'start' | 'end' | 'durationMs';

function attemptJson<Attempt extends RankAttempt>(
  { startWallMs, endWallMs, end, ...rest }: Attempt,
): Omit<Attempt, 'startWallMs' | 'endWallMs' | 'end'> & Pick<AttemptJson, EndName> {
  const hasTimes = startWallMs !== undefined && endWallMs !== undefined;
  return {
    ...rest,
    ...defined({
      status: end?.status, signal: end?.signal, start: timeOf(startWallMs), end: timeOf(endWallMs),
      durationMs: hasTimes ? Math.max(0, Math.round(endWallMs - startWallMs)) : undefined,
    }),
  };
}

/** The record as JSON, with times in ISO format. */
export function recordJson(record: FailureRecord): RecordJson {
  const { failedWallMs, heardWallMs, suspectedWallMs, confirmedWallMs, notifiedWallMs, ...rest } = record;
  return {
    ...rest,
    ...defined({ failed: timeOf(failedWallMs), heard: timeOf(heardWallMs) }),
    suspected: isoTime(suspectedWallMs),
    confirmed: isoTime(confirmedWallMs),
    ...defined({ lastNotified: timeOf(notifiedWallMs) }),
  };
}

export function timeOf(wallMs: number | undefined): string | undefined {
  return wallMs === undefined ? undefined : isoTime(wallMs);
}
