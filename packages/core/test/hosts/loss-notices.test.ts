/** Notices of losses that no detector has reported: their cause, by what is known of the agent. */

import { StciError, type FailedSubject } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LossNotices, startCause } from '../../dist/hosts/loss-notices.js';
import type { LossReport } from '../../dist/membership/mender.js';

const HOST: FailedSubject = { kind: 'host', host: 3, incarnation: 1 };
const ERROR = new StciError('STCI_AGENT_LOST', 'root:3 is lost: no sign of life\nmore');

suite('notices of losses', (test) => {
  test('one that has ended is told so; else it is silent, or not to be reached', () => {
    const notices = new LossNotices(() => 70);
    const lost = (evidence: string): LossReport => ({ host: 3, evidence, news: { error: ERROR, wallMs: 60 } }) as never;
    const causes = ([[true, 'silent'], [false, 'silent'], [false, 'closed']] as const).map(([hasEnded, evidence]) =>
      notices.ofHost(HOST, ERROR, hasEnded, lost(evidence)).cause);
    assert.equal(causes, ['exited', 'silent', 'unreachable']);
    assert.is(notices.ofHost(HOST, ERROR, false).cause, 'unreachable');
  });

  test('it is suspected when that was heard first, and its evidence is the first line', () => {
    const notices = new LossNotices(() => 70);
    const first = notices.ofHost(HOST, ERROR, true, { news: { error: ERROR, wallMs: 60 } } as LossReport);
    assert.equal(first, {
      reporter: { position: 0, incarnation: 0 }, subject: HOST, detector: 'link', cause: 'exited',
      evidence: 'root:3 is lost: no sign of life', suspectedWallMs: 60, confirmedWallMs: 70,
    });
    assert.is(notices.ofHost(HOST, ERROR, true).suspectedWallMs, 70);
  });

  test('a start fails because its host cannot be reached only if its launcher says so', () => {
    const known: readonly Record<string, string>[] = [{}, { reach: 'unreachable' }, { reach: 'dead' }];
    const causes = known.map((data) =>
      startCause(new StciError('STCI_LAUNCH_FAILED', 'x', { data })));
    assert.equal(causes, ['not-started', 'unreachable', 'not-started']);
  });
});
