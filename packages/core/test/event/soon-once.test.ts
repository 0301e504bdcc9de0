import { assert, suite } from '@stci/testkit';
import { soonOnce } from '../../dist/event/soon-once.js';

suite('a call that is made soon', (test) => {
  test('it is made once, however often it is asked for until then, and again when it is asked for again', () => {
    const queue: (() => void)[] = [];
    let made = 0;
    const ask = soonOnce({ soon: (call) => void queue.push(call) }, () => {
      made += 1;
      if (made === 1) ask(); // While it is made: for another time.
    });
    ask();
    ask();
    assert.is(queue.length, 1);
    queue.shift()?.();
    assert.equal([made, queue.length], [1, 1]);
    queue.shift()?.();
    assert.equal([made, queue.length], [2, 0]);
  });
});
