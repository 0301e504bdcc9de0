/** DisputedDeaths of agents about others: how many of one reporter are asked at a time, and that it comes to an end. */

import { rootAddress, type Clock, type MemberId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { ASKED_MAX, ASK_MS, DisputedDeaths } from '../../dist/failure/disputed-deaths.js';

const members = (from: number, count: number): MemberId[] =>
  Array.from({ length: count }, (_, i) => ({ position: from + i, incarnation: 1 }));

/** With a clock whose timers the test lets run. */
function play() {
  const timers: (() => void)[] = [];
  const after = (ms: number, call: () => void) => {
    assert.is(ms, ASK_MS);
    timers.push(call);
    return { cancel: () => void timers.splice(timers.indexOf(call), 1) };
  };
  const asked: number[] = [];
  const closed = new Set<number>();
  const holds = new Scope('session');
  const beliefs = new DisputedDeaths({
    clock: { after } as unknown as Clock, holds,
    isOpen: ({ position }) => !holds.isClosed && !closed.has(position),
    ask: ({ position }, { message }) => {
      assert.match(message, 'was told that it is dead');
      asked.push(position);
    },
  });
  return { beliefs, holds, timers, asked, closed, next: () => timers.shift()?.() };
}

suite('beliefs of agents', (test) => {
  test('of one reporter so many are asked at a time, the others later, each once; then nothing waits', () => {
    const { beliefs, timers, asked, next } = play();
    beliefs.add(rootAddress(1), members(10, ASKED_MAX + 1));
    assert.equal(asked, [10, 11, 12, 13]);
    beliefs.add(rootAddress(1), members(20, 1));
    assert.is(asked.length, ASKED_MAX);
    next();
    assert.equal(asked.slice(ASKED_MAX), [14, 20]);
    next();
    assert.equal([asked.length, timers.length], [6, 0]);
    beliefs.add(rootAddress(1), members(30, 1));
    assert.is(asked.at(-1), 30);
  });

  test('reporters do not wait for one another; what is decided meanwhile is not asked, and takes no turn', () => {
    const { beliefs, asked, closed, next } = play();
    beliefs.add(rootAddress(1), members(10, 2 * ASKED_MAX));
    beliefs.add(rootAddress(2), members(30, 1));
    assert.equal(asked, [10, 11, 12, 13, 30]);
    for (const position of [14, 15]) closed.add(position);
    beliefs.add(rootAddress(1), [...members(14, 1), ...members(40, 2)]);
    next();
    assert.equal(asked.slice(5), [16, 17, 40, 41]);
  });

  test('nothing is asked once it has stopped', () => {
    const { beliefs, holds, timers, asked } = play();
    beliefs.add(rootAddress(1), members(10, ASKED_MAX + 1));
    holds.close();
    beliefs.add(rootAddress(2), members(30, 1));
    assert.equal([asked.length, timers.length], [ASKED_MAX, 0]);
  });
});
