/**
 * Warm-up of notices. Code is compiled when it runs first: the notice of the first failure would wait for that at
 * every agent on its way. So the controller, once all watch and have settled, broadcasts an empty notice by each
 * notifier; whoever gets it reads an example besides. Nobody is told of anything.
 */

import type { Evidence, MemberId } from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { check } from '../codec/shape.js';
import { evidence } from '../messages/failure-shapes.js';
import { FailureTable } from './failure-table.js';
import { checkReporter, memberOf } from './notice.js';

/** After the watch starts: neither the launch of a job nor a short session pays for it. */
export const WARM_UP_MS = 1000;

export const WARM_UP_PAYLOAD = new Uint8Array(0);

/** Only the controller has others warm up. */
export function isWarmUp(source: MemberId, payload: Uint8Array): boolean {
  return source.position === 0 && payload.byteLength === 0;
}

/** What a notice costs the agent that takes it, with a board of its own. */
export function warmUpNotices(): void {
  const reporter = { position: 1, incarnation: 1 };
  const example: Evidence = {
    subject: { kind: 'host', host: 0, incarnation: 1 }, cause: 'silent', evidence: '', detector: 'process', reporter,
    suspectedWallMs: 0, confirmedWallMs: 0,
  };
  const notice = check(evidence, decode(encode(example)), 'notice');
  checkReporter(notice, reporter);
  memberOf(notice.subject);
  new FailureTable().take(notice);
}
