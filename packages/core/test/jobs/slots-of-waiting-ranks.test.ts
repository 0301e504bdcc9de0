/** Ranks of lost hosts that wait, and what that means for the other jobs of their session; in simulation. */

import type { AppSpec, HostIndex, JobSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { open, type Job } from '../agent/open-session.js';

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
});
