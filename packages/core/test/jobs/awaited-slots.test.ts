/** Jobs of a session that wait for hosts or slots, in simulation: where they run then, and what ends their waiting. */

import { assert, suite } from '@stci/testkit';
import { SLOTS, hostsOf, open, ranksOf } from '../agent/open-session.js';

const LEASE = { 'bootcom.lease': '2s', 'tool.grace': '100ms', errmgr: 'abort' };
const BOUND = { slotsBound: true };

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
    const { pause, resume, begin, until, stateOf, end } = open(LEASE, undefined, BOUND);
    pause('root:1');
    until(() => stateOf(1) === 'suspect', 'h1 is in doubt');
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
});
