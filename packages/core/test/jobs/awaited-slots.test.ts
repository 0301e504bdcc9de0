/** Jobs of a session that wait for hosts or slots, in simulation: where they run then, and what ends their waiting. */

import type { AppSpec, HostIndex } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { HostOutcome } from '../../dist/messages/session-messages.js';
import { HOSTS, SLOTS, hostsOf, open, ranksOf, warningsOf } from '../agent/open-session.js';

const LEASE = { 'bootcom.lease': '2s', 'tool.grace': '100ms', errmgr: 'abort' };
const BOUND = { slotsBound: true };

/** Host h1 does not answer any more, and its link is lost. */
function openDoubted() {
  const session = open(LEASE, undefined, BOUND);
  session.pause('root:1');
  session.until(() => session.stateOf(1) === 'suspect', 'h1 is in doubt');
  return session;
}

suite('jobs that wait', (test) => {
  test('get no ranks on the host in doubt when another has come up meanwhile', () => {
    const settings = { ...LEASE, 'bootcom.lease': '4s', 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '3500ms' };
    const { world, pause, begin, until, stateOf, end } = open(settings, undefined, BOUND);
    pause('root:3');
    until(() => stateOf(3) === 'suspect', 'h3 is in doubt');
    world.run({ untilMs: world.nowMs + 100 });
    pause('root:1');
    until(() => stateOf(3) === 'fenced' && stateOf(1) === 'suspect', 'h3 is lost, h1 in doubt', 20_000);
    const job = begin(3 * SLOTS, ['true']);
    until(() => job.events.length > 0, 'its plan');
    assert.equal(hostsOf(job), [0, 1, 2]);
    until(() => stateOf(3) === 'up', 'h3 is up', 20_000);
    assert.is(stateOf(1), 'suspect');
    until(() => job.report !== undefined, 'its end', 1000);
    assert.equal([job.report?.exitCode, hostsOf(job)], [0, [0, 2, 3]]);
    end();
  });

  test('are placed among jobs that came meanwhile', () => {
    const { resume, begin, until, end } = openDoubted();
    const job = begin(3 * SLOTS + 1, ['sleep', '1']);
    until(() => job.events.length > 0, 'its plan');
    const other = begin(2, ['sleep', '1']);
    until(() => other.events.some(({ type }) => type === 'running'), 'the other runs');
    resume('root:1');
    until(() => job.report !== undefined && other.report !== undefined, 'their ends', 4000);
    assert.equal([job.report?.exitCode, other.report?.exitCode], [0, 0]);
    const together = ranksOf(job).map((count, host) => count + (ranksOf(other)[host] ?? 0));
    assert.ok(together.every((count) => count <= SLOTS), together.join());
    end();
  });

  for (const force of [false, true]) {
    test(`do not wait for a host that is to leave${force ? ', by force' : ''}`, () => {
      const { session, stateOf, begin, until, told, end } = openDoubted();
      const job = begin(HOSTS * SLOTS, ['true']);
      until(() => job.events.length > 0, 'its plan');
      let left: readonly HostOutcome[] = [];
      session.removeHosts(['h1'], { force }, (outcomes) => (left = outcomes));
      until(() => job.report !== undefined, 'its end', 500);
      assert.equal([stateOf(1), job.report?.exitCode], ['suspect', 195]);
      assert.match(job.report?.cause?.message ?? '', 'need more slots than there are: 12 on 3 hosts');
      until(() => left.length > 0, 'its leaving');
      assert.equal([left[0]?.error, told.some(({ type }) => type === 'failure')], [undefined, false]);
      end();
    });
  }

  test('are looked at when a host stays after all', () => {
    const { session, begin, until, rooms, world, end } = open(LEASE, undefined, BOUND);
    const job = begin(2, ['sleep', '100']);
    until(() => job.events.some(({ type }) => type === 'running'), 'the job runs');
    let stays: readonly HostOutcome[] = [];
    session.removeHosts(['h1'], { force: false, timeoutMs: 1000 }, (outcomes) => (stays = outcomes));
    world.run({ untilMs: world.nowMs + 500 });
    rooms.length = 0;
    until(() => stays.length > 0, 'the time is over');
    until(() => rooms.length === 1, 'those that wait are looked at', 50);
    end();
  });
});

const AWAITS_SLOTS = 'waits for slots that other jobs of the session have';

/** Host h1 is lost; a job waits for slots of h0 that another has for 20 s. */
function openLacking(launchTimeoutMs: number) {
  const session = openDoubted();
  const apps = [{ program: 'sleep', args: ['20'], count: SLOTS, env: {}, hosts: [0] }];
  const startMs = session.world.nowMs;
  const other = session.begin(0, ['sleep'], { apps });
  const job = session.begin(2 * SLOTS + 1, ['sleep', '1'], { launchTimeoutMs });
  session.until(() => warningsOf(job).length > 0, 'it waits for slots', 6000);
  return { ...session, startMs, other, job };
}

suite('jobs that wait when the session ends', (test) => {
  test('are looked at no more, and told nothing of the slots that they would wait for', () => {
    const { begin, until, stateOf, end } = openDoubted();
    const apps = [{ program: 'sleep', args: ['20'], count: SLOTS, env: {}, hosts: [0] }];
    const other = begin(0, ['sleep'], { apps });
    until(() => other.events.some(({ type }) => type === 'running'), 'the other runs');
    const job = begin(2 * SLOTS + 1, ['sleep', '1']);
    until(() => job.events.length > 0, 'its plan');
    assert.is(stateOf(1), 'suspect');
    const count = job.events.length;
    end();
    assert.equal(job.events.slice(count), []);
  });
});

suite('jobs that wait for slots after a host', (test) => {
  test('are told so, and have the time for their launch after that', () => {
    const { until, other, job, end } = openLacking(2000);
    until(() => other.report !== undefined, 'the end of the other', 30_000);
    until(() => job.report !== undefined, 'its end', 4000);
    assert.equal([job.report?.exitCode, warningsOf(job)], [0, [`the job ${AWAITS_SLOTS}`]]);
    end();
  });

  test('... and are ended when that is over', () => {
    const { until, other, job, startMs, pause, world, end } = openLacking(1000);
    world.run({ untilMs: startMs + 19_500 });
    pause('root:2');
    until(() => other.report !== undefined, 'the end of the other');
    until(() => job.report !== undefined, 'its end', 4000);
    assert.equal([job.report?.exitCode, hostsOf(job)], [198, [0, 2, 3]]);
    assert.match(job.report?.cause?.message ?? '', 'was not running 1 s after it had waited for hosts or slots');
    end();
  });

  test('are not overtaken by those that come later, until they are ended', () => {
    const { begin, until, other, job, end } = openLacking(2000);
    const late = begin(1, ['true']);
    const free = begin(1, ['true'], { oversubscribe: true });
    until(() => late.report !== undefined && free.report !== undefined, 'their ends', 1000);
    assert.equal([late.report?.exitCode, free.report?.exitCode], [195, 0]);
    assert.match(late.report?.cause?.message ?? '', 'Other jobs wait for slots before it');
    job.frontEnd.control({ verb: 'end', kill: false, reason: 'enough' });
    until(() => job.report !== undefined, 'its end', 500);
    const next = begin(1, ['true']);
    until(() => next.report !== undefined, 'the end of the next', 1000);
    assert.equal([next.report?.exitCode, other.report], [0, undefined]);
    end();
  });

  test('wait also for jobs that wait themselves, as these are started again or given up', () => {
    const { pause, begin, until, stateOf, end } = open({ ...LEASE, errmgr: 'restart' }, undefined, BOUND);
    const app = (count: number, hosts?: readonly HostIndex[]): AppSpec =>
      ({ program: 'sleep', args: ['20'], count, env: {}, ...(hosts && { hosts }) });
    const jobs = [[app(8)], [app(4), app(3, [0, 2, 3])]].map((apps) => begin(0, ['sleep'], { apps }));
    until(() => jobs.every(({ events }) => events.some(({ type }) => type === 'running')), 'they run');
    assert.equal(jobs.map(ranksOf), [[2, 2, 2, 2], [2, 1, 2, 2]]);
    pause('root:1');
    until(() => stateOf(1) === 'suspect', 'h1 is in doubt');
    const job = begin(1, ['true']);
    until(() => stateOf(1) === 'fenced', 'h1 is lost');
    until(() => [...jobs, job].every(({ report }) => report !== undefined), 'their ends', 100_000);
    assert.is(job.report?.exitCode, 0);
    end();
  });
});

suite('ranks of a lost host that wait for slots', (test) => {
  test('have the time for the launch of their job after that', () => {
    const { pause, begin, until, stateOf, end } = open(LEASE, undefined, BOUND);
    pause('root:1');
    const job = begin(3, ['sleep', '15'], { launchTimeoutMs: 9000 });
    until(() => stateOf(1) === 'suspect', 'h1 is in doubt');
    const other = begin(3 * SLOTS - 2, ['sleep', '10']);
    until(() => warningsOf(job).some((text) => text.endsWith(AWAITS_SLOTS)), 'its rank waits', 6000);
    until(() => other.report !== undefined, 'the end of the other', 30_000);
    until(() => job.report !== undefined, 'its end', 20_000);
    assert.is(job.report?.exitCode, 0);
    end();
  });
});
