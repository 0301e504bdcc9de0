/** Of whom a notice is, and who may send it. */

import {
  StciError, addressName, bootHost, subjectName, type FailedSubject, type Evidence, type MemberId,
} from '@stci/interface';
import { addressAt } from '../members/positions.js';

/** The agent that failed; undefined: not one of the overlay. */
export function memberOf(subject: FailedSubject): MemberId | undefined {
  return subject.kind === 'host' ? { position: subject.host + 1, incarnation: subject.incarnation } : undefined;
}

export function memberName({ position }: MemberId): string {
  return addressName(addressAt(position));
}

/** An agent reports in its own name; of tools and session agents only its own host's. */
export function checkReporter({ reporter, subject }: Evidence, source: MemberId): void {
  const isSource = reporter.position === source.position && reporter.incarnation === source.incarnation;
  const isOwn = subject.kind === 'host' || subject.host === bootHost(reporter.position);
  if (isSource && isOwn) return;
  throw new StciError('STCI_MESSAGE_INVALID', `${memberName(source)} may not report ${subjectName(subject)}`);
}
