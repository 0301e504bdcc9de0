/** Ranks of lost hosts that wait, and what that means for the other jobs of their session; in simulation. */

import type { AppSpec, HostIndex, JobSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { HOSTS, open, type Job } from '../agent/open-session.js';

const AGAIN = { errmgr: ['restart'] };
const SETTINGS = { errmgr: 'abort', 'bootcom.lease': '2s', 'tool.grace': '100ms' };

function on(hosts: readonly HostIndex[], count: number, seconds: number): AppSpec {
  return { program: 'sleep', args: [String(seconds)], count, env: {}, hosts };
}

function openBound(settings: Readonly<Record<string, string>> = {}, slotsBound = true) {
  const session = open({ ...SETTINGS, ...settings }, undefined, { slotsBound });
  const { begin, pause, stateOf, until, world } = session;
  return {
    ...session,
    run: (ms: number) => world.run({ untilMs: world.nowMs + ms }),
    used: () => session.session.hosts.map(({ used }) => used),
    start: (apps: readonly AppSpec[], spec: Partial<JobSpec> = {}): Job =>
      begin(0, ['true'], { apps, mapBy: { by: 'slot' }, ...spec }),
    runs: (...jobs: readonly Job[]) =>
      until(() => jobs.every(({ events }) => events.some(({ type }) => type === 'running')), 'they run'),
    ends: (...jobs: readonly Job[]): unknown[] => {
      until(() => jobs.every(({ report }) => report !== undefined), 'their ends', 100_000);
      return jobs.map(({ report }) => report?.exitCode);
    },
    loseHost1: () => {
      pause('root:1');
      until(() => stateOf(1) === 'fenced', 'the loss');
    },
  };
}

suite('slots of ranks that wait', (test) => {
  test('are on their own host again as soon as that is up, and nowhere else', () => {
    const { start, runs, ends, loseHost1, until, stateOf, run, used, end } =
      openBound({ 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '100ms' });
    const job = start([on([1, 2], 4, 20)], { params: { ...AGAIN, 'errmgr.restart.pause': 10_000 } });
    runs(job);
    loseHost1();
    run(10);
    assert.equal(used(), [0, 0, 4, 0]);
    until(() => stateOf(1) === 'up', 'it is up again');
    run(10);
    assert.equal(used(), [0, 4, 0, 0]);
    const [late, other] = [start([on([1], 4, 1)]), start([on([2], 4, 1)])];
    assert.equal(ends(late, other, job), [195, 0, 0]);
    assert.equal(job.report!.ranks.map(({ host }) => host), Array.from({ length: 4 }, () => 'h1'));
    end();
  });

  for (const slotsBound of [true, false]) {
    test(`jobs are not held for ranks that wait for a host, slots ${slotsBound ? 'bound' : 'unbound'}`, () => {
      const { start, runs, ends, loseHost1, run, end } =
        openBound({ 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '30s' }, slotsBound);
      const job = start([on([1], 4, 20)], { params: AGAIN });
      runs(job);
      loseHost1();
      run(3000);
      const late = start([on([0, 2, 3], 1, 1)]);
      assert.equal([ends(late), job.report], [[0], undefined]);
      assert.equal(ends(job), [0]);
      end();
    });
  }

  test('a job is not held for ranks that are given up after their pause', () => {
    const { start, runs, ends, loseHost1, run, end } = openBound();
    const params = { ...AGAIN, 'errmgr.restart.then': 'continue', 'errmgr.restart.pause': 5000 };
    const job = start([on([0, 1], 8, 30)], { params });
    runs(job);
    loseHost1();
    run(300);
    const late = start([on([2, 3], 1, 1)]);
    assert.equal([ends(late), job.report], [[0], undefined]);
    assert.equal(ends(job), [200]);
    end();
  });

  test('of two jobs that wait for each other one is lost, also while a third runs where neither may', () => {
    const { start, pause, ends, run, end } = openBound();
    pause('root:1');
    const third = start([on([3], 1, 1000)]);
    const jobs = [1, 2].map(() => start([on([0, 1, 2], 6, 20)], { mapBy: { by: 'node' }, launchTimeoutMs: 90_000 }));
    run(5000);
    assert.equal(jobs.flatMap(({ report }) => report?.exitCode ?? []), [200]);
    assert.equal(ends(...jobs).sort(), [0, 200]);
    assert.is(third.report, undefined);
    end();
  });

  test('a job waits for one that waits for a third', () => {
    const { start, runs, loseHost1, ends, end } = openBound();
    const third = start([on([0], 4, 8)]);
    const second = start([on([2], 3, 10), on([0, 1], 1, 10)], { params: AGAIN });
    const first = start([on([1, 2], 2, 10)], { mapBy: { by: 'node' }, params: AGAIN });
    runs(third, second, first);
    loseHost1();
    assert.equal(ends(third, second, first), [0, 0, 0]);
    assert.equal([second.report?.ranks[3]?.host, first.report?.ranks[0]?.host], ['h0', 'h2']);
    end();
  });

  test('a job that waits is not refused while ranks that may be given up are in their pause', () => {
    const { start, runs, pause, until, stateOf, used, ends, end } = openBound();
    const first = start([on([0, 2], 6, 20), on([1, 3], 1, 20)], { params: AGAIN });
    const second = start([on([2, 3], 6, 20), on([1, 2], 1, 20)], { params: AGAIN });
    runs(first, second);
    assert.equal(used(), [4, 2, 4, 4]);
    pause('root:1');
    until(() => stateOf(1) === 'suspect', 'it is in doubt');
    const late = start([on(Array.from({ length: HOSTS }, (_, host) => host), 2, 1)]);
    assert.equal(ends(first, second, late).sort(), [0, 0, 200]);
    assert.is(late.report?.exitCode, 0);
    end();
  });

  test('a host on which all ranks wait to be started elsewhere takes none with it: its loss is no failure', () => {
    const { start, runs, loseHost1, used, ends, end } = openBound();
    const crash = { program: 'crash', args: ['SEGV', '0'], count: 1, env: {}, hosts: [1, 2] };
    const params = { ...AGAIN, 'errmgr.elsewhere': 1, 'errmgr.restart.pause': 4000 };
    const job = start([on([0], 1, 100), crash], { params });
    runs(job);
    loseHost1();
    assert.equal(used(), [1, 0, 1, 0]);
    ends(job);
    assert.equal(job.report?.failures.map(({ code }) => code), ['STCI_TOOL_SIGNAL']);
    end();
  });
});
