/** Scopes: ends in reverse order, once; what is told of them, within bounds. */

import { assert, suite } from '@stci/testkit';
import { HELD_DEPTH_MAX, HELD_LABEL_CHARS_MAX, HELD_ROWS_MAX, Scope } from '../../dist/event/scope.js';
import { Timers } from '../../dist/event/timers.js';
import { testPlace } from '../world.js';

function play() {
  const log: string[] = [];
  const scope = new Scope('agent');
  const hold = (label: string, of: Scope = scope): (() => void) => of.hold(label, () => void log.push(label));
  return { log, scope, hold };
}

suite('scope', (test) => {
  test('its end undoes what it holds, the last that came first, with the scopes within, and once', () => {
    const { log, scope, hold } = play();
    hold('listener');
    const job = scope.child('job 1');
    hold('stream', job);
    hold('process', job);
    hold('link');
    scope.close();
    scope.close();
    assert.equal(log, ['link', 'process', 'stream', 'listener']);
    assert.equal([scope.isClosed, job.isClosed, scope.rows()], [true, true, []]);
  });

  test('what is forgotten is not undone, nor what an undo forgets; a scope within ends by itself', () => {
    const { log, scope, hold } = play();
    hold('a')();
    const forgetB = hold('b');
    scope.hold('c', () => (forgetB(), void log.push('c')));
    const job = scope.child('job 1');
    hold('stream', job);
    job.close();
    assert.equal([log, scope.rows()], [['stream'], [[0, 'b', 1], [0, 'c', 1]]]);
    scope.close();
    assert.equal(log, ['stream', 'c']);
  });

  test('one that throws does not keep the others; its error follows', () => {
    const { log, scope, hold } = play();
    hold('a');
    scope.hold('b', () => { throw new Error('first'); });
    scope.hold('c', () => { throw new Error('second, undone before'); });
    hold('d');
    assert.throws(() => scope.close(), /second, undone before/u);
    assert.equal(log, ['d', 'a']);
  });

  test('what comes after the end is undone at once', () => {
    const { log, scope, hold } = play();
    scope.hold('last', () => void hold('late'));
    scope.close();
    assert.equal(log, ['late']);
    hold('later');
    assert.is(scope.child('job 1').isClosed, true);
    assert.equal([log, scope.rows()], [['late', 'later'], []]);
  });

  test('rows say what is within what, and how many alike; a scope with nothing in it is one of these', () => {
    const { scope, hold } = play();
    hold('link');
    const job = scope.child('job 1');
    hold('process', job.child('rank 0'));
    scope.child('job 2');
    hold('link');
    const names = ['x'];
    scope.holdAll(() => names);
    const now = scope.rows();
    names.length = 0;
    const job1 = [[0, 'job 1', 1], [1, 'rank 0', 1], [2, 'process', 1]];
    assert.equal(now, [[0, 'link', 2], [0, 'job 2', 1], [0, 'x', 1], ...job1]);
    assert.equal(scope.rows(), [[0, 'link', 2], [0, 'job 2', 1], ...job1]);
  });

  test('rows are bounded: their number, their depth, their labels', () => {
    const { scope, hold } = play();
    for (let at = 0; at < HELD_ROWS_MAX + 5; at++) hold(`number ${at}`);
    const rows = scope.rows();
    assert.equal([rows.length, rows.at(-1)], [HELD_ROWS_MAX, [0, 'more, not shown', 6]]);
    let deep = new Scope('deep');
    const top = deep;
    for (let at = 0; at < 2 * HELD_DEPTH_MAX; at++) deep = deep.child('x'.repeat(2 * HELD_LABEL_CHARS_MAX));
    assert.is(top.rows().length, HELD_DEPTH_MAX);
    assert.is(Math.max(...top.rows().map(([, label]) => label.length)), HELD_LABEL_CHARS_MAX);
  });

  test('timers are held by name, and end with their scope', () => {
    const place = testPlace();
    const { scope, log } = play();
    const timers = new Timers<string | number>(place.platform.clock, scope, 'timer of host');
    for (const name of ['lease', 1, 2]) timers.set(name, 10, () => void log.push(String(name)));
    const rows = (...names: string[]): unknown => names.map((name) => [0, `timer of host ${name}`, 1]);
    assert.equal(scope.rows(), rows('lease', '1', '2'));
    timers.clear(1);
    assert.equal(scope.rows(), rows('lease', '2'));
    scope.close();
    timers.set('late', 10, () => void log.push('late'));
    place.run(100);
    assert.equal(log, []);
    const other = new Scope('other');
    new Timers(place.platform.clock, other).close();
    assert.equal(other.rows(), []);
  });
});
