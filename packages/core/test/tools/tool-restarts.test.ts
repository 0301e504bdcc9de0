/** Tools that are started again on their own host: not before the controller knows of the start before. */

import type { ErrorManager } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ToolRestarts } from '../../dist/tools/tool-restarts.js';
import type { Tool, ToolEnd } from '../../dist/tools/tool.js';
import { testPlace } from '../world.js';

const PAUSE_MS = 10;

const restart: ErrorManager['local'] = () => ({ type: 'restart', afterMs: PAUSE_MS });

/** Restarts of rank 3, of which all processes of each attempt have ended at once, if `gone`. */
function restarting(
  { gone = true, local = restart, failures = 0 }:
  { gone?: boolean; local?: ErrorManager['local'] | null; failures?: number } = {},
) {
  const place = testPlace();
  const log: string[] = [];
  const pauses: number[] = [];
  let reports = 0;
  const make = (rank: number, attempt: number): Tool => {
    const tool = { rank, attempt, gone, startWallMs: 0, skip: () => void log.push(`skip ${attempt}`) };
    return tool as unknown as Tool;
  };
  const errorManager = { ...(local !== null && { local }) } as unknown as ErrorManager;
  const restarts = new ToolRestarts({
    clock: place.platform.clock, errorManager, host: { index: 0, name: 'a' }, make,
    leaves: { failures, quickMs: 100 },
    onRestarting: (_end, afterMs) => (pauses.push(afterMs), (reports += 1)),
    onLeaving: (former, next, end, afterMs) =>
      void log.push(`leaves after ${former.attempt} (${end.attempt}), not ${next.attempt}, in ${afterMs}`),
    onDue: (next) => {
      log.push(`start ${next.attempt}`);
      due = next;
      if (gone) restarts.onStarting(next);
    },
    onGivenUp: ({ attempt }) => void log.push(`last ${attempt}`),
  });
  let due: Tool | undefined;
  const fail = (attempt: number, status = 1, tool = make(3, attempt), endWallMs = 1): boolean => {
    const end = { rank: tool.rank, pid: 9, outcome: 'exited', end: { status }, endWallMs, leftovers: 0 } as const;
    return restarts.onEnded(tool, { ...end, attempt } satisfies ToolEnd);
  };
  return { place, log, pauses, restarts, fail, make, due: () => due as Tool };
}

suite('tool restarts', (test) => {
  test('the first is ahead of the controller, the next waits for its answer to the one before', () => {
    const { place, log, restarts, fail } = restarting();
    assert.ok(fail(1));
    place.run(PAUSE_MS - 1);
    assert.equal(log, []);
    place.run(1);
    assert.equal(log, ['start 2']);
    fail(2);
    place.run(1000);
    assert.equal(log, ['start 2'], 'it has not answered');
    restarts.onNoted();
    assert.equal(log, ['start 2', 'start 3']);
  });

  test('a rank that fails soon after so many starts leaves, once all of it has ended; a longer run begins anew', () => {
    const { place, log, restarts, fail, make } = restarting({ failures: 2 });
    fail(1);
    place.run(PAUSE_MS);
    restarts.onNoted();
    fail(2, 1, make(3, 2), 100);
    place.run(PAUSE_MS);
    restarts.onNoted();
    fail(3);
    place.run(PAUSE_MS);
    assert.equal(log, ['start 2', 'start 3', 'start 4']);
    restarts.onNoted();
    fail(4);
    assert.equal(log.slice(3), [`leaves after 4 (4), not 5, in ${PAUSE_MS}`]);
    place.run(1000);
    restarts.giveUp();
    assert.is(log.length, 4, 'it is no longer its concern');
    const slow = restarting({ failures: 1, gone: false });
    const former = { rank: 3, attempt: 1, gone: false, startWallMs: 0 } as unknown as Tool;
    slow.fail(1, 1, former);
    assert.equal(slow.log, []);
    Object.assign(former, { gone: true });
    slow.restarts.onGone(former);
    assert.is(slow.log.length, 1);
    const ended = restarting({ failures: 1, gone: false });
    const last = { rank: 3, attempt: 1, gone: false, startWallMs: 0 } as unknown as Tool;
    ended.fail(1, 1, last);
    ended.restarts.giveUp();
    Object.assign(last, { gone: true });
    ended.restarts.onGone(last);
    assert.equal(ended.log, ['last 1', 'skip 2'], 'the job ends before');
  });

  test('when the job ends, the attempt that failed was the last, once, and none is started', () => {
    const { place, log, restarts, fail } = restarting();
    fail(1);
    restarts.giveUp();
    restarts.giveUp();
    restarts.onNoted();
    place.run(1000);
    assert.equal(log, ['last 1', 'skip 2']);
    assert.equal(place.world.scheduler.queue.pending(), []);
  });

  test('nothing follows a good end, nor where the error manager does not restart, or decides nothing here', () => {
    const { place, log, restarts, fail } = restarting();
    assert.equal([restarts.isOn, fail(1, 0)], [true, false]);
    const reporting = restarting({ local: () => ({ type: 'report' }) });
    assert.equal([reporting.restarts.isOn, reporting.fail(1)], [true, false]);
    const without = restarting({ local: null });
    assert.equal([without.restarts.isOn, without.fail(1)], [false, false]);
    for (const one of [restarts, reporting.restarts, without.restarts]) one.giveUp();
    place.run(1000);
    assert.equal([log, reporting.log, without.log, reporting.pauses], [[], [], [], []]);
  });

  test('the next attempt waits for the last process of the one before, and for its pause', () => {
    for (const isGoneFirst of [true, false]) {
      const { place, log, pauses, restarts, fail, make, due } = restarting({ gone: false });
      const former = make(3, 1) as { gone: boolean } & Tool;
      assert.ok(fail(1, 1, former));
      assert.equal(pauses, [PAUSE_MS]);
      if (!isGoneFirst) place.run(1000);
      assert.equal(log, []);
      former.gone = true;
      restarts.onGone(make(3, 1));
      restarts.onGone(make(4, 1));
      assert.equal(log, [], 'that of another tool says nothing');
      restarts.onGone(former);
      assert.equal(log, isGoneFirst ? [] : ['start 2']);
      if (isGoneFirst) place.run(PAUSE_MS);
      assert.equal(log, ['start 2']);
      assert.equal([due(), former, make(4, 2)].map((tool) => restarts.isNext(tool)), [true, false, false]);
      restarts.onStarting(former);
      assert.is(restarts.isNext(due()), true, 'only its own start counts');
      restarts.onStarting(due());
      assert.is(restarts.isNext(due()), false);
      restarts.giveUp();
      restarts.onGone(former);
      assert.equal(log, ['start 2'], 'the one that runs is not given up');
    }
  });

  test('an attempt that is given up is skipped when the last process of the one before has ended', () => {
    const { place, log, restarts, fail, make } = restarting({ gone: false });
    const former = make(3, 1) as { gone: boolean } & Tool;
    fail(1, 1, former);
    restarts.giveUp();
    place.run(1000);
    assert.equal(log, ['last 1']);
    former.gone = true;
    restarts.onGone(former);
    assert.equal(log, ['last 1', 'skip 2']);
  });
});
