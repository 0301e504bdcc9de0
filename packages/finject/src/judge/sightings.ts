/**
 * What the runtime said of failures in a repeat, from its events: failures, suspicions and recoveries, each with its
 * moment on finject's clock. A failure whose record was lost with the end of a history is taken from its first news.
 */

import {
  failureId, type FailedSubject, type FailureCause, type FailureId, type FailureRecord, type HostIndex, type JobEvent,
} from '@stci/interface';
import { sourceOf, type Moment } from './clocks.js';
import type { RepeatView } from './repeat-view.js';

/** A failure as it was reported. */
export interface Sighting {
  readonly subject: FailedSubject;
  readonly key: FailureId;
  readonly cause: FailureCause | undefined;
  readonly evidence: string;
  readonly detector: string | undefined;
  /** Last sign of life; it failed after it. */
  readonly heard: Moment | undefined;
  /** The operating system's time, where it is known. */
  readonly failed: Moment | undefined;
  readonly suspected: Moment | undefined;
  readonly detected: Moment;
  /** The last agent was told. */
  readonly notified: Moment | undefined;
}

/** A suspicion of a host. */
export interface Suspicion {
  readonly host: HostIndex;
  readonly incarnation: number;
  readonly detector: string;
  readonly text: string;
  readonly at: Moment;
}

/** An action by which something goes on. */
export interface Recovery {
  readonly what: { readonly kind: 'rank'; readonly rank: number } | { readonly kind: 'host'; readonly host: HostIndex };
  /** Another way to the controller. */
  readonly isLink?: boolean;
  readonly text: string;
  readonly at: Moment;
}

export interface Sightings {
  readonly failures: readonly Sighting[];
  readonly suspicions: readonly Suspicion[];
  readonly recoveries: readonly Recovery[];
  /** The runtime began to end the job; what fails from then on merely follows. */
  readonly endingMs: number | undefined;
}

export function sightingsOf(view: RepeatView): Sightings {
  const failures = new Map<FailureId, Sighting>();
  const suspicions: Suspicion[] = [];
  const recoveries: Recovery[] = [];
  let endingMs: number | undefined;
  for (const { wallMs, event } of view.events) {
    const failure = event.type === 'failure-record' ? ofRecord(event.record, view) : undefined;
    if (failure !== undefined && !failures.has(failure.key)) failures.set(failure.key, failure);
    if (event.type === 'member' && event.change === 'suspected') suspicions.push(suspicionOf(event, view));
    const recovery = recoveryOf(event, wallMs, view);
    if (recovery !== undefined) recoveries.push(recovery);
    if (event.type === 'ending') endingMs ??= wallMs;
  }
  for (const failure of unrecorded(view, failures)) failures.set(failure.key, failure);
  return { failures: [...failures.values()], suspicions, recoveries, endingMs };
}

function ofRecord(record: FailureRecord, view: RepeatView): Sighting {
  const { failure, subject, cause, evidence, detector, reporter } = record;
  const at = (wallMs: number | undefined, source: ReturnType<typeof sourceOf>): Moment | undefined =>
    wallMs === undefined ? undefined : view.clocks.correct(wallMs, source);
  const by = sourceOf(reporter);
  return {
    subject, key: failure, cause, evidence, detector,
    heard: at(record.heardWallMs, by),
    failed: at(record.failedWallMs, subject.host),
    suspected: at(record.suspectedWallMs, by),
    detected: view.clocks.correct(record.confirmedWallMs, by),
    // Agents say by their own clocks when they were told; the record keeps the latest, not whose it was.
    notified: at(record.notifiedWallMs, 'unknown'),
  };
}

/** News of failures without a record. An attempt is not told there: it is the one after those that are known. */
function unrecorded(view: RepeatView, known: ReadonlyMap<FailureId, Sighting>): readonly Sighting[] {
  const found: Sighting[] = [];
  const isKnown = new Set([...known.values()].map(({ subject }) => placeOf(subject)));
  for (const { wallMs, event } of view.events) {
    if (event.type !== 'failure') continue;
    const { rank, host: name, message } = event.error;
    const host = view.shape.hosts.indexOf(name ?? '');
    const job = view.target?.job ?? 0;
    const subject: FailedSubject | undefined = rank !== undefined
      ? { kind: 'tool', host: Math.max(0, host), job, rank, attempt: 1 }
      : host >= 0 ? { kind: 'host', host, incarnation: 1 } : undefined;
    if (subject === undefined || isKnown.has(placeOf(subject)) || isLostWith(subject, isKnown)) continue;
    isKnown.add(placeOf(subject));
    found.push({
      subject, key: failureId(subject), cause: undefined, evidence: firstLine(message), detector: undefined,
      heard: undefined, failed: undefined, suspected: undefined, detected: { ms: wallMs, errorMs: 0 },
      notified: undefined,
    });
  }
  return found;
}

/** Ranks of a lost host or session agent are told of, but have no record of their own. */
function isLostWith(subject: FailedSubject, known: ReadonlySet<string>): boolean {
  return subject.kind === 'tool' && (known.has(`host ${subject.host}`) || known.has(`session ${subject.host}`));
}

/** A subject without its attempt or incarnation. */
export function placeOf(subject: FailedSubject): string {
  switch (subject.kind) {
    case 'host':
      return `host ${subject.host}`;
    case 'session-agent':
      return `session ${subject.host}`;
    case 'tool':
      return `rank ${subject.rank}`;
  }
}

function suspicionOf(
  event: Extract<JobEvent, { readonly type: 'member'; readonly change: 'suspected' }>, view: RepeatView,
): Suspicion {
  const { host, incarnation, detector, reporter, evidence } = event;
  return {
    host, incarnation, detector, text: `host ${host} was suspected by ${detector} at ${reporter}: ${evidence}`,
    at: view.clocks.correct(event.wallMs, 'controller'),
  };
}

function recoveryOf(event: JobEvent, wallMs: number, view: RepeatView): Recovery | undefined {
  const seen = { ms: wallMs, errorMs: 0 };
  switch (event.type) {
    case 'started':
      if ((event.attempt ?? 1) === 1) return undefined;
      return {
        what: { kind: 'rank', rank: event.rank }, text: `rank ${event.rank} started again`,
        at: view.clocks.correct(event.wallMs, event.host),
      };
    case 'host-up':
      if (event.incarnation === 1) return undefined;
      return { what: { kind: 'host', host: event.host }, text: `host ${event.host} started again`, at: seen };
    case 'recovery':
      if (event.action !== 'use-spare') return undefined;
      return { what: { kind: 'host', host: event.host }, text: `host ${event.host} replaced by a spare`, at: seen };
    case 'member':
      if (event.change !== 'linked') return undefined;
      return {
        what: { kind: 'host', host: event.host }, isLink: true, text: `host ${event.host} linked to ${event.parent}`,
        at: view.clocks.correct(event.wallMs, 'controller'),
      };
    default:
      return undefined;
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
