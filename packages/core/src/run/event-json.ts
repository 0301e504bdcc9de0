/** The job's events and report as JSON (`--json`, `--exit-report=json`): hosts by name, times in ISO format. */

import {
  printable, type HostIndex, type JobEvent, type JobId, type JobReport, type RankAttempt, type RankReport,
} from '@stci/interface';
import { isoTime } from '../iof/label.js';
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

interface EventObject {
  readonly type: string;
  readonly [name: string]: unknown;
}

function eventObject(event: JobEvent, hostName: (host: HostIndex) => string): EventObject {
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

export function reportJson(report: JobReport): object {
  const { submitWallMs, endWallMs, ranks, ...rest } = report;
  return { ...rest, submitted: isoTime(submitWallMs), ended: isoTime(endWallMs), ranks: ranks.map(rankJson) };
}

function rankJson({ earlier, ...last }: RankReport): object {
  return { ...attemptJson(last), ...(earlier !== undefined && { earlier: earlier.map(attemptJson) }) };
}

function attemptJson({ startWallMs, endWallMs, end, ...rest }: RankAttempt): object {
  const known = startWallMs !== undefined && endWallMs !== undefined;
  return {
    ...rest,
    ...(end?.status !== undefined && { status: end.status }),
    ...(end?.signal !== undefined && { signal: end.signal }),
    ...(startWallMs !== undefined && { start: isoTime(startWallMs) }),
    ...(endWallMs !== undefined && { end: isoTime(endWallMs) }),
    ...(known && { durationMs: Math.max(0, Math.round(endWallMs - startWallMs)) }),
  };
}
