/** The end of a job, at the controller: what is sent when, once, and nothing after it is over. */

import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import type { RecoveringJob } from '../../dist/jobs/job-session.js';
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
  const end = new JobTermination({
    session: { node }, holds, job: 4, params: { int: () => GRACE_MS },
    ledger: { get complete() { return isComplete(); } },
  } as unknown as RecoveringJob, onOverdue);
  const after = (ms: number): string[] => (place.run(ms), log.splice(0));
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { end, holds, after, isQuiet };
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
