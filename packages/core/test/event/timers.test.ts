/** Timers by name: one of each, forgotten when it fires, all ended together. */

import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { Timers, heldTimer } from '../../dist/event/timers.js';
import { testPlace } from '../world.js';

function play() {
  const place = testPlace();
  const log: string[] = [];
  const timers = new Timers(place.platform.clock);
  const run = (ms: number): string[] => (place.run(ms), log.splice(0));
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { timers, run, isQuiet, say: (text: string) => () => void log.push(text) };
}

suite('timers', (test) => {
  test('a name has one: what is set later counts; `ensure` leaves one that runs', () => {
    const { timers, run, say } = play();
    timers.set('a', 10, say('first'));
    timers.set('a', 20, say('second'));
    timers.ensure('a', 5, say('third'));
    timers.ensure('b', 15, say('b'));
    assert.equal([run(14), run(1), run(5), run(100)], [[], ['b'], ['second'], []]);
  });

  test('one that has fired is forgotten before what it calls, which may set it again', () => {
    const { timers, run } = play();
    const seen: boolean[] = [];
    timers.set('a', 10, () => {
      seen.push(timers.has('a'));
      timers.ensure('a', 10, () => void seen.push(timers.has('a')));
      seen.push(timers.has('a'));
    });
    assert.is(timers.has('a'), true);
    run(100);
    assert.equal([seen, timers.has('a')], [[false, true, false], false]);
  });

  test('cleared ones do not fire; all end together, and none is set after that', () => {
    const { timers, run, isQuiet, say } = play();
    for (const name of ['a', 'b', 'c']) timers.set(name, 10, say(name));
    timers.clear('b');
    assert.is(timers.has('b'), false);
    assert.equal(run(10), ['a', 'c']);
    timers.set('a', 10, say('a'));
    timers.set('r', 10, say('r'), { running: true });
    timers.close();
    timers.set('late', 1, say('late'));
    assert.equal([isQuiet(), run(100), timers.has('late')], [true, [], false]);
  });

  test('with `running`, time in which this process did not run does not count', () => {
    const place = testPlace();
    const fired: string[] = [];
    const timers = new Timers(place.platform.clock);
    timers.set('plain', 100, () => void fired.push('plain'));
    timers.set('running', 100, () => void fired.push('running'), { running: true });
    place.run(50);
    assert.equal(fired, []);
    place.run(60);
    assert.equal(fired.sort(), ['plain', 'running']);
  });

  test('of a scope: it is shown there until it has fired; where the scope has ended there is none', () => {
    const { platform: { clock }, run } = testPlace();
    const log: string[] = [];
    const scope = new Scope('agent');
    heldTimer(scope, clock, 'a', 10, () => void log.push('a'));
    heldTimer(scope, clock, 'b', 20, () => void log.push('b'));
    assert.equal(scope.rows(), [[0, 'timer a', 1], [0, 'timer b', 1]]);
    run(15);
    assert.equal([log, scope.rows()], [['a'], [[0, 'timer b', 1]]]);
    scope.close();
    heldTimer(scope, clock, 'c', 1, () => void log.push('c')).cancel();
    heldTimer(scope, clock, 'd', 1, () => void log.push('d'));
    run(100);
    assert.equal(log, ['a']);
  });
});
