/** The end of a job and its deadlines, at the controller: what is sent when, once, and nothing after it is over. */

import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { JobDeadlines } from '../../dist/jobs/job-deadlines.js';
import { END_REPORT_MS, JobTermination } from '../../dist/jobs/job-termination.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace } from '../world.js';

const GRACE_MS = 1000;

function ending(isComplete = () => false) {
  const place = testPlace();
  const log: string[] = [];
  const node = {
    platform: place.platform,
    messages: {
      sendSubtree: (name: string, { kill, reason }: { readonly kill: boolean; readonly reason: string }, job: number) =>
        void log.push(`${name} ${job} ${kill ? 'kill' : 'end'}: ${reason}`),
    },
  } as unknown as AgentNode;
  const holds = new Scope('job 4');
  const onOverdue = (): void => void log.push('overdue');
  const end = new JobTermination({ node, holds, job: 4, graceMs: GRACE_MS, isComplete, onOverdue });
  const after = (ms: number): string[] => (place.run(ms), log.splice(0));
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { end, holds, after, isQuiet };
}

function deadlines() {
  const place = testPlace();
  const log: string[] = [];
  const holds = new Scope('job');
  const one = new JobDeadlines(place.platform.clock, holds, {
    onLaunchTimeout: (ms, hasWaited) => void log.push(`launch ${ms}${hasWaited ? ' after waiting' : ''}`),
    onJobTimeout: (ms) => void log.push(`job ${ms}`),
    onOverdue: () => void log.push('overdue'),
  });
  const after = (ms: number): string[] => (place.run(ms), log.splice(0));
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { one, holds, log, after, isQuiet };
}

suite('end of a job', (test) => {
  test('it is sent once, and again only to kill the ranks, once', () => {
    const { end, after } = ending();
    end.send(false, 'a');
    end.send(false, 'b');
    assert.equal(after(0), ['job.end 4 end: a']);
    end.send(true, 'c');
    end.send(true, 'd');
    end.send(false, 'e');
    assert.equal(after(0), ['job.end 4 kill: c']);
    const first = ending();
    first.end.send(true, 'a');
    first.end.send(false, 'b');
    first.end.send(true, 'c');
    assert.equal(first.after(0), ['job.end 4 kill: a']);
  });

  test('ends of ranks that are missing after the grace period: SIGKILL, then the job is overdue, once', () => {
    const { end, after, isQuiet } = ending();
    end.send(false, 'a');
    end.await();
    after(500);
    end.await();
    assert.equal(after(GRACE_MS + END_REPORT_MS - 501), [], 'not before');
    assert.equal(after(1), ['job.end 4 kill: the job does not end'], 'the second call does not begin anew');
    end.await();
    assert.equal(after(END_REPORT_MS - 1), []);
    assert.equal(after(1), ['overdue']);
    assert.equal([after(60_000), isQuiet()], [[], true]);
  });

  test('where all have ended by then, nothing more is done', () => {
    const { end, after, isQuiet } = ending(() => true);
    end.await();
    assert.equal([after(60_000), isQuiet()], [[], true]);
  });

  test('who takes the hosts gives less time than the grace period, not more', () => {
    for (const [graceMs, atMs] of [[300, 300], [5000, GRACE_MS]] as const) {
      const { end, after, isQuiet } = ending();
      end.send(false, 'a');
      after(0);
      end.shortenGrace(graceMs);
      after(1);
      end.shortenGrace(graceMs);
      assert.equal(after(atMs - 2), []);
      assert.equal(after(1), ['job.end 4 kill: the hosts are taken']);
      assert.equal([after(60_000), isQuiet()], [[], true], 'once');
    }
  });

  test('nothing happens any more once it is cancelled', () => {
    const { end, holds, after, isQuiet } = ending();
    end.await();
    end.shortenGrace(100);
    holds.close();
    assert.is(isQuiet(), true);
    assert.equal(after(60_000), []);
    const late = ending();
    late.end.await();
    late.after(GRACE_MS + END_REPORT_MS);
    late.holds.close();
    assert.equal([late.isQuiet(), late.after(60_000)], [true, []], 'nor between SIGKILL and the end');
  });
});

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
