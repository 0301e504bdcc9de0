/** Deadlines of a job: of its launch, of all of it, of what is left after that; which is told where two are due. */

import type { Clock, Timer } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { JobDeadlines } from '../../dist/jobs/job-deadlines.js';
import { END_REPORT_MS } from '../../dist/jobs/job-termination.js';
import { testPlace } from '../world.js';

function deadlines(clock?: Clock) {
  const place = testPlace();
  const log: string[] = [];
  const holds = new Scope('job');
  const one = new JobDeadlines(clock ?? place.platform.clock, holds, {
    onLaunchTimeout: (ms, hasWaited) => void log.push(`launch ${ms}${hasWaited ? ' after waiting' : ''}`),
    onJobTimeout: (ms) => void log.push(`job ${ms}`),
    onOverdue: () => void log.push('overdue'),
  });
  const after = (ms: number): string[] => (place.run(ms), log.splice(0));
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { one, holds, log, after, isQuiet };
}

suite('deadlines of a job', (test) => {
  test('a launch has its time; it is over with the launch', () => {
    const slow = deadlines();
    slow.one.start({ timeoutMs: undefined, launchTimeoutMs: 700 } as never, 100);
    assert.equal(slow.after(699), []);
    assert.equal(slow.after(1), ['launch 700']);
    assert.equal([slow.after(600_000), slow.isQuiet()], [[], true], 'once, and none of the job');
    const quick = deadlines();
    quick.one.start({ timeoutMs: undefined, launchTimeoutMs: 700 } as never, 100);
    quick.one.onLaunched();
    assert.equal([quick.isQuiet(), quick.after(5000)], [true, []]);
  });

  test('a launch that waits for slots has its whole time after that, each time', () => {
    const { one, after, isQuiet } = deadlines();
    one.start({ timeoutMs: undefined, launchTimeoutMs: 700 } as never, 100);
    one.resumeLaunch();
    after(600);
    for (let i = 0; i < 2; i += 1) {
      one.suspendLaunch();
      assert.equal([isQuiet(), after(9000)], [true, []]);
      one.resumeLaunch();
      after(600);
      one.resumeLaunch();
    }
    assert.equal([after(99), after(1)], [[], ['launch 700 after waiting']]);
    one.resumeLaunch();
    assert.equal([isQuiet(), after(9000)], [true, []], 'it has been late once');
  });

  test('a job that has timed out has its grace period, then it is overdue', () => {
    const { one, after, isQuiet } = deadlines();
    one.start({ timeoutMs: 2000, launchTimeoutMs: 9000 }, 100);
    one.onLaunched();
    assert.equal(after(1999), []);
    assert.equal(after(1), ['job 2000']);
    assert.equal(after(100 + END_REPORT_MS - 1), []);
    assert.equal(after(1), ['overdue']);
    assert.equal([after(600_000), isQuiet()], [[], true]);
  });

  test('hosts that drain have some seconds, from the first time on', () => {
    const { one, log, after, isQuiet } = deadlines();
    one.awaitDrained(() => void log.push('first'));
    after(2000);
    one.awaitDrained(() => void log.push('second'));
    assert.equal([after(999), after(1)], [[], ['first']]);
    assert.equal([after(60_000), isQuiet()], [[], true]);
  });

  test('nothing is due once they are cancelled', () => {
    const { one, holds, log, after, isQuiet } = deadlines();
    one.start({ timeoutMs: 2000, launchTimeoutMs: 9000 }, 100);
    one.awaitDrained(() => void log.push('drained'));
    holds.close();
    assert.equal([isQuiet(), after(600_000)], [true, []]);
    const late = deadlines();
    late.one.start({ timeoutMs: 2000, launchTimeoutMs: 9000 }, 100);
    late.after(2000);
    late.holds.close();
    assert.equal([late.isQuiet(), late.after(600_000)], [true, []], 'nor between the timeout and the end');
  });
});

/** Timers that are all due at once, and fire in this order: of the first that were set, or of the last. */
function lateClock(order: 'first' | 'last') {
  const timers = new Set<{ fire(): void }>();
  const after = (_delayMs: number, fire: () => void): Timer => {
    const timer = { fire };
    timers.add(timer);
    return { cancel: () => void timers.delete(timer) };
  };
  const fire = (): void => {
    const due = [...timers];
    for (const timer of order === 'first' ? due : due.reverse()) if (timers.delete(timer)) timer.fire();
  };
  return { clock: { nowMs: () => 0, wallMs: () => 0, after, soon: () => undefined } satisfies Clock, fire };
}

suite('deadlines of a job that are due together', (test) => {
  for (const order of ['first', 'last'] as const) {
    const play = (launchTimeoutMs: number, before: (one: JobDeadlines) => void = () => undefined): string[] => {
      const { clock, fire } = lateClock(order);
      const { one, log } = deadlines(clock);
      one.start({ timeoutMs: 700, launchTimeoutMs }, 100);
      before(one);
      fire();
      return log;
    };

    test(`a late launch is told first where it has no more time than its job; the ${order} timer fires first`, () => {
      for (const ms of [700, 600]) assert.equal(play(ms), [`launch ${ms}`, 'job 700']);
    });

    test(`of a launch that is over nothing is told; the ${order} timer fires first`, () => {
      assert.equal(play(700, (one) => one.onLaunched()), ['job 700']);
    });
  }

  test('the launch has time left where it is longer than that of the job, or has waited', () => {
    const { one, after } = deadlines();
    one.start({ timeoutMs: 700, launchTimeoutMs: 750 }, 100);
    assert.equal([after(700), after(50)], [['job 700'], ['launch 750']]);
    const waited = deadlines();
    waited.one.start({ timeoutMs: 700, launchTimeoutMs: 700 }, 100);
    waited.after(100);
    waited.one.suspendLaunch();
    waited.one.resumeLaunch();
    assert.equal([waited.after(600), waited.after(100)], [['job 700'], ['launch 700 after waiting']]);
  });
});
