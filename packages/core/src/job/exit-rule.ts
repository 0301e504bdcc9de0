/**
 * The one exit rule (docs/exit-codes.md). 0 if all ranks ended with 0. Else the failure that came first decides, by
 * the time at its source, ties by the lowest rank: a rank's own status, 128 + signal if it was killed by a signal that
 * the runtime did not send, and the code of its table row for anything that went wrong in launching or in the
 * runtime itself. What the runtime ended is a consequence and decides nothing while a failure explains it.
 */

import {
  EXIT, failureId, fromErrorRecord, toErrorRecord, type ErrorRecord, type Failure, type FailureKind, type HostIndex,
  type JobId, type ProcessEnd, type Rank, type RankOutcome, type StciError,
} from '@stci/interface';
import { signalExitCode } from './signals.js';

/** What the rule must know of a rank. */
export interface RankEnding {
  readonly rank: Rank;
  readonly outcome: RankOutcome;
  readonly end?: ProcessEnd | undefined;
  readonly error?: ErrorRecord | undefined;
}

export interface ExitDecision {
  /** 0..255. */
  readonly exitCode: number;
  /** undefined for 0. */
  readonly cause?: ErrorRecord;
}

export type HostFailure = Failure & { readonly host: HostIndex };

/** Exit code of a process that ended by itself: its status, or 128 + signal. */
function processExitCode(end: ProcessEnd): number {
  return end.signal === undefined ? (end.status ?? 0) : signalExitCode(end.signal);
}

/** Exit code of an error as StciError has it; an unknown code counts as an internal error. */
export function errorExitCode(error: ErrorRecord): number {
  return fromErrorRecord(error).exitCode;
}

/** The failure of this kind that an error is; of no rank and no host. */
export function failureBy(kind: FailureKind, error: StciError, wallMs: number): Failure {
  return { kind, error: toErrorRecord(error), wallMs, exitCode: error.exitCode };
}

/** The failure that the loss of a host's agent, or of a job's agent there, is. */
export function hostFailure(kind: FailureKind, host: HostIndex, error: ErrorRecord, wallMs: number): HostFailure {
  return { kind, error, host, wallMs, exitCode: errorExitCode(error) };
}

/** The failure that a rank's ending is; undefined where it is none (status 0, or the runtime's own doing). */
export function failureOf(
  ending: RankEnding,
  host: { readonly index: HostIndex; readonly name: string },
  of: { readonly job: JobId; readonly attempt: number },
  wallMs: number,
): Failure | undefined {
  const { rank } = ending;
  const id = failureId({ kind: 'tool', host: host.index, rank, ...of });
  const failure = (kind: FailureKind, error: ErrorRecord, exitCode: number): Failure => ({
    kind, error: { ...error, host: host.name, rank, failure: id }, host: host.index, rank, wallMs, exitCode,
  });
  if (ending.outcome === 'failed-start') {
    const error = ending.error ?? { code: 'STCI_PROGRAM_SPAWN', message: `Rank ${rank} could not be started` };
    return failure('tool-start', error, errorExitCode(error));
  }
  const signal = ending.end?.signal;
  if (ending.outcome === 'signalled' && signal !== undefined) {
    const message = `Rank ${rank} on ${host.name} was ended by ${signal}${whyText(ending)}`;
    return failure('tool-signal', { code: 'STCI_TOOL_SIGNAL', message, data: { signal } }, signalExitCode(signal));
  }
  const status = ending.end?.status ?? 0;
  if (ending.outcome !== 'exited') return undefined;
  if (status === 0) {
    const { error } = ending;
    // Its MPI library had not ended.
    return error?.code === 'STCI_MPI_UNFINISHED' ? failure('tool-status', error, errorExitCode(error)) : undefined;
  }
  const message = `Rank ${rank} on ${host.name} ended with status ${status}`;
  return failure('tool-status', { code: 'STCI_TOOL_STATUS', message, data: { status } }, status);
}

/** Why the runtime sent the signal, where a rank failed before that: it gave no sign of life. */
function whyText({ error }: Pick<RankEnding, 'error'>): string {
  return error === undefined ? '' : `: ${error.message}`;
}

/** How a rank ended, for programs: it is named elsewhere. */
export function endText({ outcome, end, error }: Pick<RankEnding, 'outcome' | 'end' | 'error'>): string {
  if (outcome === 'signalled' && end?.signal !== undefined) return `it was ended by ${end.signal}${whyText({ error })}`;
  if (error !== undefined) return error.message;
  if (end?.signal !== undefined) return `it was ended by ${end.signal}`;
  return end?.status === undefined ? `it is ${outcome}` : `it ended with status ${end.status}`;
}

/** Failures in the order of the rule: by source time, then rank (those without a rank last), then arrival. */
export function failuresInOrder(failures: readonly Failure[]): Failure[] {
  const rankOf = (failure: Failure): number => failure.rank ?? Infinity;
  return [...failures].sort((a, b) => a.wallMs - b.wallMs || compare(rankOf(a), rankOf(b)));
}

/** The job's exit code and what decided it. `endings` are asked only where no failure is known. */
export function decideExit(failures: readonly Failure[], endings: Iterable<RankEnding>): ExitDecision {
  const first = failuresInOrder(failures)[0];
  if (first !== undefined) return { exitCode: first.exitCode, cause: first.error };
  for (const ending of endings) {
    const decision = unexplained(ending);
    if (decision !== undefined) return decision;
  }
  return { exitCode: 0 };
}

/** A rank that did not end with 0 although no failure was reported: the job must not count as a success. */
function unexplained(ending: RankEnding): ExitDecision | undefined {
  const { rank, outcome, end } = ending;
  if (end !== undefined && outcome !== 'lost') {
    const exitCode = processExitCode(end);
    if (exitCode === 0) return undefined;
    const how = end.signal === undefined ? `with status ${end.status}` : `by ${end.signal}`;
    const code = end.signal === undefined ? 'STCI_TOOL_STATUS' : 'STCI_TOOL_SIGNAL';
    return { exitCode, cause: { code, message: `Rank ${rank} was ended by the runtime ${how}`, rank } };
  }
  const message = `The job ended while rank ${rank} was ${outcome}, and no failure explains it`;
  return { exitCode: EXIT.internal, cause: { code: 'STCI_INTERNAL', message, rank } };
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
