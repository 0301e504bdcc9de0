/** Jobs of a session while it is not known whether one of its hosts lives, in simulation. */

import { assert, suite } from '@stci/testkit';
import { HOSTS, SLOTS, hostsOf, open, warningsOf } from '../agent/open-session.js';

const LEASE = { 'bootcom.lease': '2s', 'tool.grace': '100ms', errmgr: 'abort' };
const ALL = HOSTS * SLOTS;

/** Host h1 does not answer any more, and its link is lost. */
function openDoubted(slotsBound: boolean) {
  const session = open(LEASE, undefined, { slotsBound });
  session.pause('root:1');
  session.until(() => session.stateOf(1) === 'suspect', 'h1 is in doubt');
  return session;
}

suite('hosts of which it is not known whether they live', (test) => {
  test('get no ranks while others have room', () => {
    const { begin, until, stateOf, end } = openDoubted(true);
    const jobs = [2, 3, 2 * SLOTS].map((count) => begin(count, ['true']));
    until(() => jobs.every(({ report }) => report !== undefined), 'their ends', 1000);
    assert.is(stateOf(1), 'suspect');
    assert.equal(jobs.map(({ report }) => report?.exitCode), [0, 0, 0]);
    assert.equal(jobs.map(hostsOf), [[0, 2], [0, 2, 3], [0, 2, 3]]);
    end();
  });

  test('are waited for where no other has room: the job runs once the host is linked again', () => {
    const { world, resume, begin, until, stateOf, end } = openDoubted(true);
    const job = begin(ALL, ['true']);
    world.run({ untilMs: world.nowMs + 500 });
    assert.equal([stateOf(1), job.events.map(({ type }) => type)], ['suspect', ['mapped']]);
    resume('root:1');
    until(() => job.report !== undefined, 'its end', 2000);
    assert.equal([job.report?.exitCode, hostsOf(job), stateOf(1)], [0, [0, 1, 2, 3], 'up']);
    end();
  });

  test('... or is refused once the host is lost, with its name', () => {
    const { begin, until, stateOf, end } = openDoubted(true);
    const job = begin(ALL, ['true']);
    until(() => job.report !== undefined, 'its end', 5000);
    assert.is(stateOf(1), 'fenced');
    assert.equal([job.report?.exitCode, job.report?.cause?.code], [195, 'STCI_SLOTS_EXCEEDED']);
    const says =
      /need more slots than there are: 12 on 3 hosts[^]*\nLost, and not counted: h1\. 'stci add-hosts h1' starts/u;
    assert.match(job.report?.cause?.message ?? '', says);
    end();
  });

  test('... or runs on hosts that others leave meanwhile', () => {
    const { begin, until, stateOf, end } = openDoubted(true);
    const first = begin(2 * SLOTS, ['sleep', '0.5']);
    const second = begin(2 * SLOTS, ['true']);
    until(() => second.report !== undefined, 'its end', 1500);
    assert.equal([stateOf(1), first.report?.exitCode, second.report?.exitCode], ['suspect', 0, 0]);
    assert.equal(hostsOf(second), [0, 2, 3]);
    end();
  });

  test('... or, once the host is lost, on slots that others leave after that', () => {
    const { begin, until, stateOf, end } = openDoubted(true);
    const first = begin(2 * SLOTS, ['sleep', '8']);
    const second = begin(2 * SLOTS, ['true']);
    until(() => stateOf(1) === 'fenced', 'the loss', 6000);
    until(() => second.report !== undefined, 'its end', 10_000);
    assert.equal([first.report?.exitCode, second.report?.exitCode, hostsOf(second)], [0, 0, [0, 2, 3]]);
    end();
  });

  test('a job that waits can be ended', () => {
    const { begin, until, stateOf, resume, end } = openDoubted(true);
    const job = begin(ALL, ['true']);
    job.frontEnd.control({ verb: 'end', kill: false, reason: 'enough' });
    until(() => job.report !== undefined, 'its end', 500);
    resume('root:1');
    until(() => stateOf(1) === 'up', 'it is linked again', 2000);
    end();
  });
});

suite('ranks that have not started when their host is lost', (test) => {
  test('are started on others where there is room, whatever the error manager', () => {
    const { pause, begin, until, stateOf, end } = open(LEASE, undefined, { slotsBound: true });
    pause('root:1');
    const job = begin(3, ['sleep', '6']);
    until(() => job.report !== undefined, 'its end', 16_000);
    assert.equal([stateOf(1), job.report?.exitCode, hostsOf(job)], ['fenced', 0, [0, 2, 3]]);
    assert.match(warningsOf(job).join(), 'its ranks had not started, and are started on other hosts: 1');
    assert.is(job.report?.ranks[1]?.earlier, undefined, 'its first attempt');
    end();
  });

  /** A job of three ranks, of which that on h1 does not start; of `others` ranks fill other hosts for 8 s. */
  function openMoving(others: number) {
    const session = open(LEASE, undefined, { slotsBound: true });
    session.pause('root:1');
    const job = session.begin(3, ['sleep', '20']);
    session.until(() => session.stateOf(1) === 'suspect', 'h1 is in doubt');
    const other = session.begin(others, ['sleep', '8']);
    session.until(() => session.stateOf(1) === 'fenced', 'the loss', 6000);
    return { ...session, job, other };
  }

  test('wait for slots that other jobs have', () => {
    const { job, other, until, end } = openMoving(3 * SLOTS - 2);
    until(() => job.report !== undefined, 'its end', 40_000);
    assert.equal([other.report?.exitCode, job.report?.exitCode], [0, 0]);
    assert.ok(job.report!.ranks[1]!.startWallMs! >= other.report!.endWallMs - 1000, 'after the other job');
    assert.match(warningsOf(job).join('\n'), /\nrank 1 waits for slots that other jobs of the session have$/u);
    end();
  });

  test('have a slot kept from the loss on', () => {
    const { job, begin, until, end } = openMoving(3 * SLOTS - 3);
    const late = begin(1, ['true']);
    until(() => job.report !== undefined, 'its end', 40_000);
    assert.equal([job.report?.exitCode, late.report?.exitCode], [0, 195]);
    assert.match(late.report?.cause?.message ?? '', 'does not fit now: running jobs have 12 ranks');
    end();
  });

  test('are lost at once where they would not fit without the other jobs either', () => {
    const { begin, pause, until, end } = open(LEASE, undefined, { slotsBound: true });
    pause('root:1');
    const job = begin(3 * SLOTS + 1, ['sleep', '20']);
    const other = begin(1, ['sleep', '100']);
    until(() => job.report !== undefined, 'its end', 10_000);
    assert.equal([job.report?.exitCode, other.report], [200, undefined]);
    end();
  });

  test('are not overtaken by jobs that come later, unless these need no slots', () => {
    const { begin, until, job, end } = openMoving(3 * SLOTS - 2);
    const late = begin(1, ['true']);
    const free = begin(1, ['true'], { oversubscribe: true });
    until(() => job.report !== undefined, 'its end', 40_000);
    assert.equal([late.report?.exitCode, free.report?.exitCode], [195, 0]);
    assert.match(late.report?.cause?.message ?? '', 'Other jobs wait for slots before it');
    end();
  });

  test('of two jobs that wait for each other, one is lost, and the other goes on', () => {
    const { pause, begin, until, end } = open(LEASE, undefined, { slotsBound: true });
    pause('root:1');
    const jobs = [2 * SLOTS, 2 * SLOTS].map((count) => begin(count, ['sleep', '20']));
    until(() => jobs.every(({ report }) => report !== undefined), 'their ends', 60_000);
    assert.equal(jobs.map(({ report }) => report?.exitCode).sort(), [0, 200]);
    end();
  });

  for (const [why, count, settings] of [
    ['there is none', ALL, {}], ['they may not, by errmgr.elsewhere', 3, { 'errmgr.elsewhere': '0' }],
  ] as const) {
    test(`are lost with it where ${why}`, () => {
      const { pause, begin, until, end } = open({ ...LEASE, ...settings }, undefined, { slotsBound: true });
      pause('root:1');
      const job = begin(count, ['sleep', '100']);
      until(() => job.report !== undefined, 'its end', 8000);
      assert.equal([job.report?.exitCode, job.report?.cause?.code], [200, 'STCI_AGENT_LOST']);
      assert.is(job.report?.ranks.filter(({ outcome }) => outcome === 'lost').length, count === ALL ? SLOTS : 1);
      end();
    });
  }

  test('are lost with it if one of them had started', () => {
    const { pause, submit, until, end } = open(LEASE);
    const job = submit('sleep', '100');
    pause('root:1');
    until(() => job.report !== undefined, 'its end', 8000);
    assert.is(job.report?.exitCode, 200);
    end();
  });
});
