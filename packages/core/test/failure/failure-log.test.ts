/** Records at the end of a job: it waits until the agents have said when they were told, with a bound. */

import { rootAddress, type FailedSubject, type Evidence, type FailureRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { ENDING_MS, FailureLog } from '../../dist/failure/failure-log.js';
import { RECORD_MS } from '../../dist/failure/records.js';
import type { AgentOfJob } from '../../dist/messages/collected.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { Collecting } from '../../dist/streams/collects.js';
import { testPlace } from '../world.js';

const HOST = { kind: 'host', host: 2, incarnation: 1 } as const;
const KEY = 'host 2#1';

const NOTICE: Evidence = {
  reporter: { position: 1, incarnation: 1 }, subject: HOST, cause: 'silent', evidence: 'e', detector: 'ring',
  suspectedWallMs: 1, confirmedWallMs: 1,
};

const AGENTS: readonly AgentOfJob[] = [[rootAddress(0), 0], [rootAddress(1), 0]];

/** With two agents, which are asked and have not answered. */
function openLog() {
  const place = testPlace();
  const asked: Collecting<'failure.told'>[] = [];
  const told: (string | number)[] = [];
  const ask = (name: string, agents: unknown, collecting: Collecting<'failure.told'>) => {
    assert.equal([name, agents, collecting.withinMs], ['failure.told', AGENTS, ENDING_MS]);
    asked.push(collecting);
  };
  const holds = new Scope('session');
  const log = new FailureLog({
    holds,
    node: { platform: place.platform, collects: { ask } } as unknown as AgentNode,
    agents: () => AGENTS,
    onRecord: ({ notified }: FailureRecord) => void told.push(notified),
  });
  const end = (isSpread = true): void => {
    const isDue = ({ kind }: FailedSubject): boolean => kind === 'host';
    log.onEnding(isDue, () => isSpread, () => void told.push('over'));
  };
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  const add = (isProvisional?: boolean): void => log.add(NOTICE, 'c', isProvisional);
  return { ...place, holds, log, told, asked, end, add, isQuiet };
}

suite('records of failures, at the end of a job', (test) => {
  test('it is over when all agents have said when they were told, or do not answer in time', () => {
    const { log, told, asked, end, add } = openLog();
    add();
    log.records.seen(KEY, rootAddress(0), 3);
    end();
    assert.equal([told, asked.length], [[], 1]);
    asked[0]?.onEach([[KEY, 4]], AGENTS[1] as AgentOfJob);
    assert.equal(told, []);
    asked[0]?.onDone([]);
    assert.equal(told, [2, 'over']);
  });

  test('at once without records, if all agents have said so already, or if they are not told of such a failure', () => {
    for (const [isAdded, seen, isSpread] of [[false, 0, true], [true, 2, true], [true, 0, false]] as const) {
      const { log, told, asked, end, add } = openLog();
      if (isAdded) add();
      for (let i = 0; i < seen; i++) log.records.seen(KEY, rootAddress(i), 3);
      end(isSpread);
      assert.equal([told, asked.length], [isAdded ? [seen, 'over'] : ['over'], 0]);
    }
  });

  test('at once when the session ends, and once', () => {
    const { holds, told, asked, end, add } = openLog();
    add();
    end();
    holds.close();
    for (const { onDone } of asked) onDone([]);
    end();
    assert.equal(told, [0, 'over', 'over']);
  });

  test('what is not decided yet is not waited for', () => {
    const { log, told, end, add } = openLog();
    add();
    log.records.hold(HOST);
    end();
    assert.equal(told, ['over']);
  });

  test('a record is told by itself when it is due, whenever it began', () => {
    const { holds, told, add, run } = openLog();
    run(5000);
    add();
    run(RECORD_MS - 1);
    assert.equal(told, []);
    run(1);
    assert.equal(told, [0]);
    holds.close();
    assert.equal(told, [0]);
  });

  test('one that is held is told as long after it is decided as any other, once, and leaves no timer', () => {
    const { log, told, add, run, isQuiet } = openLog();
    add();
    log.records.hold(HOST);
    run(5 * RECORD_MS);
    assert.equal(told, []);
    log.release(HOST);
    run(RECORD_MS - 1);
    assert.equal(told, []);
    run(1);
    assert.equal([told, isQuiet(), run(5 * RECORD_MS), told.length], [[0], true, undefined, 1]);
  });

  test('when the session ends, what is recorded is told at once, also after, and no timer is left', () => {
    const { holds, log, told, add, run, isQuiet } = openLog();
    add();
    holds.close();
    assert.equal([told, isQuiet()], [[0], true]);
    log.add({ ...NOTICE, subject: { ...HOST, host: 3 } }, 'd');
    assert.is(isQuiet(), true, 'what comes later waits for nothing');
    run(5 * RECORD_MS);
    assert.equal(told, [0]);
  });

  test('a job that ends meanwhile is over when the session ends, before what is left is told', () => {
    const { holds, log, told, add, end } = openLog();
    log.add({ ...NOTICE, subject: { kind: 'tool', host: 3, job: 1, rank: 0, attempt: 1 } }, 'd');
    add();
    end();
    log.records.seen(KEY, rootAddress(0), 3);
    holds.close();
    assert.equal(told, [1, 'over', 0]);
  });

  test('who has found it is named by the first report that says so', () => {
    const { log, told, add } = openLog();
    add(true);
    log.add({ ...NOTICE, reporter: { position: 2, incarnation: 1 } }, 'c');
    const { reporter, confirmers } = log.records.take(Infinity)[0] as FailureRecord;
    assert.equal([reporter, confirmers, told], ['root:1', [], []]);
    const plain = openLog();
    plain.add();
    plain.log.add({ ...NOTICE, reporter: { position: 2, incarnation: 1 } }, 'c');
    const second = plain.log.records.take(Infinity)[0] as FailureRecord;
    assert.equal([second.reporter, second.confirmers], ['root:0', ['root:1']]);
  });
});
