/** The notice board: one entry for each failure, whoever reports it. */

import type { Evidence } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FailureTable } from '../../dist/failure/failure-table.js';

function notice(host: number, reporter: number, more: Partial<Evidence> = {}): Evidence {
  return {
    reporter: { position: reporter, incarnation: 1 }, subject: { kind: 'host', host, incarnation: 1 },
    cause: 'silent', evidence: 'e', detector: 'd', suspectedWallMs: 1, confirmedWallMs: 2, ...more,
  };
}

suite('notice board', (test) => {
  test('the first report is new, those of others confirm it, and each reporter counts once', () => {
    const board = new FailureTable();
    assert.equal([board.take(notice(3, 1)), board.take(notice(3, 1, { evidence: 'f' }))], ['new', 'known']);
    assert.is(board.take(notice(3, 2, { failedWallMs: 7, evidence: 'later' })), 'confirmed');
    assert.is(board.take(notice(3, 2)), 'known');
    const entry = board.get(notice(3, 1).subject);
    assert.equal([entry?.notice.evidence, entry?.notice.failedWallMs], ['e', 7]);
    assert.equal(entry?.confirmers, [{ position: 2, incarnation: 1 }]);
  });

  test('another incarnation is another failure; what is withdrawn is new again', () => {
    const board = new FailureTable();
    board.take(notice(3, 1));
    assert.is(board.take(notice(3, 1, { subject: { kind: 'host', host: 3, incarnation: 2 } })), 'new');
    assert.is(board.withdraw({ kind: 'host', host: 3, incarnation: 1 }), true);
    assert.is(board.take(notice(3, 1)), 'new');
  });

  test('the oldest entries are forgotten', () => {
    const board = new FailureTable(2);
    for (const host of [1, 2, 3]) board.take(notice(host, 0));
    assert.equal([board.size, board.get({ kind: 'host', host: 1, incarnation: 1 })], [2, undefined]);
  });

  test('what reporters can make it hold is bounded', () => {
    const board = new FailureTable();
    for (let host = 0; host < 5000; host++) board.take(notice(host, 0));
    for (let reporter = 1; reporter < 100; reporter++) board.take(notice(4999, reporter));
    const last = board.get({ kind: 'host', host: 4999, incarnation: 1 });
    assert.equal([board.size, last?.confirmers.length], [4096, 64]);
  });
});
