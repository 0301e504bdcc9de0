/** Records of failures: what is gathered, when it is told, and how it reads. */

import { rootAddress, type Evidence, type FailureRecord, type HostIndex } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FailureRecords, RECORD_MS } from '../../dist/failure/records.js';
import { recordJson } from '../../dist/run/event-json.js';
import { recordText } from '../../dist/run/record-text.js';

const HOST = { kind: 'host', host: 2, incarnation: 1 } as const;

const notice = (more: Partial<Evidence> = {}): Evidence => ({
  reporter: { position: 3, incarnation: 1 }, subject: HOST, cause: 'silent', // By its own host's clock.
  evidence: 'no heartbeat for 9 ms', detector: 'ring',
  suspectedWallMs: 1000, confirmedWallMs: 1005, promised: { minMs: 5, maxMs: 10 }, ...more,
});

/** By the agent of this host. */
const by = (host: HostIndex) => ({ reporter: { position: host + 1, incarnation: 1 } });

function gathered(): FailureRecords {
  const records = new FailureRecords();
  records.add(notice(), 'c', 0);
  records.add(notice({ failedWallMs: 998, ...by(3) }), 'c', 1);
  records.add(notice(), 'c', 2);
  const seen: readonly (readonly [HostIndex, number])[] = [[0, 1006], [1, 1009], [3, 1007], [1, 5000]];
  for (const [host, wallMs] of seen) records.seen('host 2#1', rootAddress(host), wallMs);
  records.lost('host 2#1', 1, [5, 4]);
  records.lost('host 2#1', 1, [4]);
  records.linked('f', 'a');
  for (const decision of ['the job goes on', 'the job goes on']) records.decided('host 2#1', decision);
  return records;
}

suite('records of failures', (test) => {
  test('one record gathers all that is known, and is told once, when it is due', () => {
    const records = gathered();
    assert.equal([records.take(RECORD_MS - 1), records.dueMs], [[], RECORD_MS]);
    const [record, ...more] = records.take(RECORD_MS);
    assert.equal(more, []);
    const { reporter, confirmers, notified, notifiedWallMs, lostRanks, newParents, policy, achievedMs } =
      record as FailureRecord;
    assert.equal([reporter, confirmers, notified, notifiedWallMs, achievedMs], ['root:2', ['root:3'], 3, 1009, 7]);
    assert.equal([lostRanks, newParents, policy],
      [[{ job: 1, ranks: [4, 5] }], [{ host: 'f', parent: 'a' }], ['the job goes on']]);
    records.add(notice(by(7)), 'c', RECORD_MS + 1);
    assert.equal([records.take(1e9), records.dueMs], [[], undefined]);
  });

  test('where the time of the failure is not known, the last sign of life bounds what was achieved', () => {
    const records = new FailureRecords();
    records.add(notice({ heardWallMs: 996 }), 'c', 0);
    const [record] = records.take(1e9) as [FailureRecord];
    assert.equal([record.achievedMs, record.achievedMaxMs], [undefined, 9]);
    assert.match(recordText(record), ', at most 9 ms after it failed, suspected 5 ms before, promised 5 ms to 10 ms');
    assert.is((recordJson(record) as { heard: string }).heard, '1970-01-01T00:00:00.996Z');
  });

  test('what the controller knows is replaced by what it is told; clocks of two hosts are not compared', () => {
    const records = new FailureRecords();
    const learned = notice({ reporter: { position: 0, incarnation: 0 }, failedWallMs: 400, evidence: 'learned' });
    records.add(learned, 'c', 0, true);
    records.add(learned, 'c', 0, true);
    records.add(notice({ failedWallMs: 998 }), 'c', 1);
    records.add(notice(by(3)), 'c', 2);
    const [told] = records.take(1e9) as [FailureRecord];
    assert.equal([told.reporter, told.confirmers, told.evidence, told.failedWallMs, told.achievedMs],
      ['root:2', ['root:3'], 'no heartbeat for 9 ms', 998, 7]);
    const only = new FailureRecords();
    only.add(learned, 'c', 0, true);
    const [record] = only.take(1e9) as [FailureRecord];
    assert.equal([record.reporter, record.failedWallMs, record.achievedMs], ['controller', 400, undefined]);
  });

  test('what is not decided is not told, and gathers what follows from its decision on', () => {
    const records = gathered();
    records.hold(HOST);
    assert.equal([records.take(1e9, () => true), records.dueMs], [[], undefined]);
    records.release(HOST, 5000);
    records.release(HOST, 9000);
    assert.equal([records.take(5000 + RECORD_MS - 1), records.dueMs], [[], 5000 + RECORD_MS]);
    assert.is(records.take(5000 + RECORD_MS).length, 1);
    records.hold(HOST);
    assert.is(records.dueMs, undefined);
  });

  test('a job that ends has its records told before they are due; others wait', () => {
    const records = gathered();
    const tool = { kind: 'tool', host: 1, job: 2, rank: 0, attempt: 1 } as const;
    records.add(notice({ subject: tool }), 'c', 0);
    assert.equal(records.take(1, (subject) => subject.kind === 'tool').map(({ subject }) => subject), [tool]);
    records.withdraw(HOST);
    assert.equal(records.take(1e9), []);
  });

  test('more failures than can be gathered at a time are told early; those told are remembered up to a bound', () => {
    const records = new FailureRecords();
    const add = (host: number): void => records.add(notice({ subject: { ...HOST, host } }), 'c', 0);
    for (let host = 0; host < 1030; host++) add(host);
    assert.equal(records.take(0).map(({ subject }) => subject.host), [0, 1, 2, 3, 4, 5]);
    for (let host = 1030; host < 5000; host++) add(host);
    records.take(RECORD_MS);
    for (const host of [0, 4999]) add(host);
    assert.equal(records.take(1e9).map(({ subject }) => subject.host), [0], 'only the oldest is forgotten');
  });

  test('of more than can be gathered, none is told that is not decided: a partition may make all hosts suspect', () => {
    const records = new FailureRecords();
    for (let host = 0; host < 2000; host++) {
      records.add(notice({ subject: { ...HOST, host } }), 'c', 0);
      records.hold({ ...HOST, host });
    }
    assert.equal(records.take(1e9, () => true), []);
    const tool = { kind: 'tool', host: 1, job: 2, rank: 0, attempt: 1 } as const;
    records.add(notice({ subject: tool }), 'c', 0);
    assert.equal(records.take(1), [], 'nor is another told early');
    for (let host = 1; host < 2000; host++) records.withdraw({ ...HOST, host });
    records.release({ ...HOST, host: 0 }, 0);
    assert.equal(records.take(RECORD_MS).map(({ subject }) => subject.host), [1, 0]);
  });

  test('it reads as one paragraph, without what is not known', () => {
    const [record] = gathered().take(1e9) as [FailureRecord];
    assert.is(recordText(record), 'host c failed: no heartbeat for 9 ms. Found by ring at root:2, confirmed by root:3 '
      + 'at 1970-01-01T00:00:01.005Z, 7 ms after it failed, suspected 5 ms before, promised 5 ms to 10 ms, '
      + '3 agents told within 4 ms. Ranks lost: 4-5. Linked again: f to a. Then: the job goes on.');
    assert.match(recordText({ ...record, evidence: 'Host c is lost' }), /^Host c is lost\. Found by ring/u);
    const subject = { kind: 'session-agent', host: 2, incarnation: 1, job: 1, attempt: 2 } as const;
    assert.match(recordText({ ...record, subject }), /^session agent, attempt 2, on c failed: /u);
    const bare = { ...record, confirmers: [], lostRanks: [], newParents: [], policy: [], suspectedWallMs: 1005 };
    const { promised: _promised, notifiedWallMs: _told, achievedMs: _achieved, ...rest } = bare;
    assert.is(recordText({ ...rest, subject: { kind: 'tool', host: 2, job: 1, rank: 4, attempt: 1 } }),
      'rank 4 on c failed: no heartbeat for 9 ms. Found by ring at root:2 at 1970-01-01T00:00:01.005Z.');
    assert.equal((recordJson(record) as { confirmed: string }).confirmed, '1970-01-01T00:00:01.005Z');
  });
});
