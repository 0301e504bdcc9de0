/** Jobs of a session that wait for slots, in simulation: how often they are looked at while ranks end. */

import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { RoomWatch } from '../../dist/jobs/room-watch.js';
import { HOSTS, SLOTS, open } from '../agent/open-session.js';
import { testPlace } from '../world.js';

const apps = (...each: readonly (readonly [count: number, seconds: string])[]) =>
  ({ apps: each.map(([count, time]) => ({ program: 'sleep', args: [time], count, env: {} })) });

suite('jobs that wait for slots', (test) => {
  test('are tried once for many ranks that end, each in a turn of its own', () => {
    const { begin, until, rooms, end } = open();
    const waves = Array.from({ length: 40 }, (_, i) => [5, `${5 + i / 200}`] as const);
    const job = begin(0, ['sleep'], { ...apps([1, '20'], ...waves), oversubscribe: true });
    until(() => job.events.some(({ type }) => type === 'running'), 'the job runs', 4000);
    rooms.length = 0;
    const ended = (): number => job.events.filter(({ type }) => type === 'exited').length;
    until(() => ended() === 200, 'the ends of all but one', 10_000);
    until(() => rooms.length > 0, 'a try', 1000);
    assert.ok(rooms.length <= 3, `${rooms.length} tries`);
    until(() => job.report !== undefined, 'its end', 30_000);
    end();
  });

  test('are tried when some ranks of a job have ended, and when a job has', () => {
    const { begin, until, rooms, world, end } = open({}, undefined, { slotsBound: true });
    const other = begin(1, ['sleep', '30']);
    const job = begin(0, ['sleep'], apps([2, '5'], [HOSTS * SLOTS - 3, '8']));
    until(() => job.events.some(({ type }) => type === 'running'), 'the job runs', 4000);
    rooms.length = 0;
    until(() => job.events.some(({ type }) => type === 'exited'), 'the ends of two', 6000);
    until(() => rooms.length > 0, 'a try', 300);
    until(() => job.report !== undefined, 'its end', 6000);
    const endMs = world.nowMs;
    world.run({ untilMs: endMs + 20 });
    assert.ok(rooms.some((ms) => ms >= endMs - 20), 'at once');
    assert.is(other.report, undefined);
    end();
  });

  test('are not tried any more once the session has ended', () => {
    const { platform: { clock }, run, world } = testPlace();
    const holds = new Scope('session');
    let looks = 0;
    const room = new RoomWatch(clock, holds, () => (looks += 1));
    room.later();
    run(1000);
    assert.is(looks, 1);
    room.later();
    holds.close();
    room.later();
    assert.is(world.scheduler.queue.pending().length, 0);
    run(1000);
    assert.is(looks, 1);
  });
});
