/** Failure records that the controller itself makes, and their words. */

import {
  StciError,
  toErrorRecord,
  type ErrorRecord,
  type Failure,
  type FailureKind,
  type HostIndex,
  type HostSpec,
} from '@stci/interface';

/** Names that are listed before the rest is counted. */
const NAMES_SHOWN = 8;

/** A failure of the job as a whole: it belongs to no rank and no host. */
export function failureOf(kind: FailureKind, error: StciError, wallMs: number): Failure {
  return { kind, error: toErrorRecord(error), wallMs, exitCode: error.exitCode };
}

/** What is told of a host whose agent may be well, below one that is gone. */
export function cutOffRecord(hosts: readonly HostSpec[], host: HostIndex, lost: HostIndex): ErrorRecord {
  const name = (index: HostIndex): string => hosts[index]?.name ?? String(index);
  return {
    code: 'STCI_AGENT_LOST',
    message: `Host ${name(host)} is cut off: it was reached through host ${name(lost)}, whose agent is gone`,
    host: name(host),
  };
}

/** A host whose ranks were told to end, of which nothing came. */
export function unansweredHostError(hosts: readonly HostSpec[], index: HostIndex): StciError {
  const host = hosts[index]?.name ?? String(index);
  const text = `Host ${host} does not answer: what became of its ranks is not known`;
  return new StciError('STCI_AGENT_LOST', text, { host });
}

export function summarizeNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  return names.length > NAMES_SHOWN ? `${shown} and ${names.length - NAMES_SHOWN} more` : shown;
}
