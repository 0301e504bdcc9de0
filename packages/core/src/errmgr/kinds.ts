/** Kinds of failures, as policies tell them apart. */

import { ERROR_KINDS, isErrorCode, type Failure, type FailureKind } from '@stci/interface';

/** Subjects of which a policy can be chosen: a rank's program; a session agent; a host, with its root agent. */
export const SUBJECTS = ['tool', 'agent', 'host'] as const;
export type Subject = (typeof SUBJECTS)[number];

/** What failed, where that is not the job as a whole. */
const SUBJECT_OF: Readonly<Partial<Record<FailureKind, Subject>>> = {
  'tool-status': 'tool', 'tool-signal': 'tool', 'tool-start': 'tool',
  'session-lost': 'agent',
  'agent-launch': 'host', 'agent-lost': 'host',
};

export function subjectOf({ kind }: Pick<Failure, 'kind'>): Subject | undefined {
  return SUBJECT_OF[kind];
}

/** The job is over, whatever its ranks do: time is up, the user ended it, or its output cannot be written. */
export function isOver({ kind }: Pick<Failure, 'kind'>): boolean {
  return kind === 'timeout' || kind === 'interrupt' || kind === 'output';
}

/** Another start may go better: not where the program does not exist. */
export function mayRestart(failure: Failure): boolean {
  const { code } = failure.error;
  if (failure.kind === 'tool-start') return isErrorCode(code) && ERROR_KINDS[code].retryable;
  return subjectOf(failure) !== undefined;
}
