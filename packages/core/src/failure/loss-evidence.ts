/** Evidence of failures that no detector has reported, at the controller: as it sees them when it hears of them. */

import type { Evidence, FailedSubject, FailureCause, MemberId, StciError } from '@stci/interface';
import type { LossReport } from '../membership/mender.js';
import { TEXT_CHARS_MAX } from '../messages/failure-shapes.js';

/** `unreachable`: its launcher says so. */
export function startCause({ data }: StciError): FailureCause {
  return data['reach'] === 'unreachable' ? 'unreachable' : 'not-started';
}

/** What is known of a host's agent that is lost; `hasEnded`: it is known to have ended. */
export function lossFacts(
  hasEnded: boolean, loss: LossReport | undefined,
): Pick<Evidence, 'cause'> & { readonly suspectedWallMs?: number } {
  const cause = hasEnded ? 'exited' : loss?.evidence === 'silent' ? 'silent' : 'unreachable';
  return { cause, ...(loss?.news !== undefined && { suspectedWallMs: loss.news.wallMs }) };
}

/** What an error says of a failure. */
export function evidenceOf(
  subject: FailedSubject, { message }: { readonly message: string }, wallMs: number, reporter: MemberId,
): Omit<Evidence, 'cause'> {
  const evidence = (message.split('\n', 1)[0] as string).slice(0, TEXT_CHARS_MAX);
  return { reporter, subject, detector: 'link', evidence, suspectedWallMs: wallMs, confirmedWallMs: wallMs };
}
