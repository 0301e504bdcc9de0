/**
 * Refusals of what a client sent. A refused body is one message that makes no sense: the stream goes on behind it, and
 * it can be answered. After a refused stream nobody knows where the next message begins: the connection ends.
 */

import { StciError } from '@stci/interface';

/** Longest excerpt of what was found. */
const FOUND_CHARS_MAX = 60;

const wrong = (expected: string, found: string | number): string =>
  `Expected ${expected}, got ${String(found).slice(0, FOUND_CHARS_MAX)}`;

export function refuseBody(expected: string, found: string | number): never {
  throw new StciError('STCI_MESSAGE_INVALID', wrong(expected, found));
}

export function refuseStream(expected: string, found: string | number): never {
  throw new StciError('STCI_FRAME_INVALID', wrong(expected, found));
}

export function isRefusedBody(fault: unknown): fault is StciError {
  return fault instanceof StciError && fault.code === 'STCI_MESSAGE_INVALID';
}
