/** Notices of failures that no detector has reported, at the controller: as it sees them when it hears of them. */

import {
  StciError, type ErrorRecord, type FailedSubject, type FailureCause, type FailureId, type Evidence,
  type HostIndex,
} from '@stci/interface';
import type { LossReport } from '../membership/mender.js';
import type { ParentHost } from '../membership/table.js';
import { TEXT_CHARS_MAX, type SessionFailure } from '../messages/failure-shapes.js';

/** The agent of a host did not come up, or was lost before all were up. */
export interface StartFailure {
  readonly host: HostIndex;
  readonly reporter: ParentHost;
  readonly cause: FailureCause;
  readonly error: StciError;
}

/** A job loses an agent of a host: its root agent, or the job's session agent there. */
export interface HostLoss {
  readonly host: HostIndex;
  readonly kind: 'agent-launch' | 'agent-lost' | 'session-lost';
  readonly error: ErrorRecord;
  /** Of a session agent, as its root agent says. */
  readonly session?: SessionFailure | undefined;
}

/** `unreachable`: its launcher says so. */
export function startCause({ data }: StciError): FailureCause {
  return data['reach'] === 'unreachable' ? 'unreachable' : 'not-started';
}

/** The same text twice would read as one failure reported twice: this is the host's first, second, third, … */
export function numberedError(error: StciError, id: FailureId, failure: number): StciError {
  const { code, message, agent, host, rank, data, cause } = error;
  const of = { agent, host, rank, failure: id, cause };
  if (failure === 1) return new StciError(code, message, { ...of, data });
  const [first = '', ...rest] = message.split('\n');
  const text = [`${first} (failure ${failure})`, ...rest].join('\n');
  return new StciError(code, text, { ...of, data: { ...data, failure } });
}

export class LossNotices {
  readonly #wallMs: () => number;

  constructor(wallMs: () => number) {
    this.#wallMs = wallMs;
  }

  /** Of a host's agent; `hasEnded`: it is known to have ended. */
  ofHost(subject: FailedSubject, error: StciError, hasEnded: boolean, loss?: LossReport): Evidence {
    const cause = hasEnded ? 'exited' : loss?.evidence === 'silent' ? 'silent' : 'unreachable';
    const now = this.of(subject, error);
    return { ...now, cause, ...(loss?.news !== undefined && { suspectedWallMs: loss.news.wallMs }) };
  }

  /** All but its cause. */
  of(subject: FailedSubject, { message }: { readonly message: string }): Omit<Evidence, 'cause'> {
    const now = this.#wallMs();
    const evidence = (message.split('\n', 1)[0] as string).slice(0, TEXT_CHARS_MAX);
    return {
      reporter: { position: 0, incarnation: 0 }, subject, detector: 'link', evidence,
      suspectedWallMs: now, confirmedWallMs: now,
    };
  }
}
