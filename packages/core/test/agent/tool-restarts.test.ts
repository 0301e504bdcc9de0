/** Tools that are started again on their own host: not before the controller knows of the start before. */

import type { ErrorManager } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ToolRestarts } from '../../dist/agent/tool-restarts.js';
import type { Tool, ToolEnd } from '../../dist/agent/tool.js';
import { testPlace } from '../world.js';

const PAUSE_MS = 10;

const errorManager = {
  local: () => ({ type: 'restart', afterMs: PAUSE_MS }),
} as unknown as ErrorManager;

/** Restarts of rank 3, of which all processes of each attempt have ended at once. */
function restarting() {
  const place = testPlace();
  const log: string[] = [];
  let reports = 0;
  const make = (rank: number, attempt: number): Tool => {
    const tool = { rank, attempt, gone: true, skip: () => void log.push(`skip ${attempt}`) };
    return tool as unknown as Tool;
  };
  const restarts = new ToolRestarts({
    clock: place.platform.clock, errorManager, host: { index: 0, name: 'a' }, make,
    onRestarting: () => (reports += 1),
    onDue: (next) => {
      log.push(`start ${next.attempt}`);
      restarts.onStarting(next);
    },
    onGivenUp: ({ attempt }) => void log.push(`last ${attempt}`),
  });
  const fail = (attempt: number): boolean => {
    const end: ToolEnd = {
      rank: 3, pid: 9, outcome: 'exited', end: { status: 1 }, endWallMs: 1, leftovers: 0, attempt,
    };
    return restarts.onEnded(make(3, attempt), end);
  };
  return { place, log, restarts, fail };
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
});
