/** Evidence of losses that no detector has reported: their cause, by what is known of the agent. */

import { StciError, type FailedSubject } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { evidenceOf, lossFacts, startCause } from '../../dist/failure/loss-evidence.js';
import type { LossReport } from '../../dist/membership/mender.js';

const HOST: FailedSubject = { kind: 'host', host: 3, incarnation: 1 };
const ERROR = new StciError('STCI_AGENT_LOST', 'root:3 is lost: no sign of life\nmore');

suite('evidence of losses', (test) => {
  test('one that has ended is told so; else it is silent, or not to be reached', () => {
    const lost = (evidence: string): LossReport => ({ host: 3, evidence }) as never;
    const causes = ([[true, 'silent'], [false, 'silent'], [false, 'closed']] as const).map(([hasEnded, evidence]) =>
      lossFacts(hasEnded, lost(evidence)).cause);
    assert.equal(causes, ['exited', 'silent', 'unreachable']);
    assert.is(lossFacts(false, undefined).cause, 'unreachable');
  });

  test('it is suspected when that was heard first, and its evidence is the first line', () => {
    const reporter = { position: 2, incarnation: 1 };
    const own = evidenceOf(HOST, ERROR, 70, reporter);
    const first = { ...own, ...lossFacts(true, { news: { error: ERROR, wallMs: 60 } } as LossReport) };
    assert.equal(first, {
      reporter, subject: HOST, detector: 'link', cause: 'exited',
      evidence: 'root:3 is lost: no sign of life', suspectedWallMs: 60, confirmedWallMs: 70,
    });
    assert.is({ ...own, ...lossFacts(true, undefined) }.suspectedWallMs, 70);
  });

  test('a start fails because its host cannot be reached only if its launcher says so', () => {
    const known: readonly Record<string, string>[] = [{}, { reach: 'unreachable' }, { reach: 'dead' }];
    const causes = known.map((data) =>
      startCause(new StciError('STCI_LAUNCH_FAILED', 'x', { data })));
    assert.equal(causes, ['not-started', 'unreachable', 'not-started']);
  });
});
