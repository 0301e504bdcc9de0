/** Due times: the earliest of those that are set, whatever was set before. */

import { assert, seededIntegers, suite } from '@stci/testkit';
import { DueTimes } from '../../dist/event/due-times.js';

suite('due times', (test) => {
  test('the earliest comes first; one that was changed or deleted does not count any more', () => {
    const due = new DueTimes<string>();
    assert.is(due.firstMs, undefined);
    for (const [key, dueMs] of [['a', 30], ['b', 10], ['c', 20], ['b', 40]] as const) due.set(key, dueMs);
    assert.equal([due.firstMs, due.take(19)], [20, []]);
    due.delete('c');
    assert.equal([due.firstMs, due.take(30), due.firstMs], [30, ['a'], 40]);
    due.set('b', 50);
    due.set('b', 40);
    assert.equal([due.take(40), due.take(100), due.firstMs], [['b'], [], undefined]);
  });

  test('as a list would say, for any changes', () => {
    const random = seededIntegers(7);
    const due = new DueTimes<number>();
    const model = new Map<number, number>();
    for (let step = 0; step < 5000; step += 1) {
      const key = random(50);
      const kind = random(8);
      if (kind < 5) {
        const dueMs = random(1000);
        due.set(key, dueMs);
        model.set(key, dueMs);
      } else if (kind === 5) {
        due.delete(key);
        model.delete(key);
      } else if (kind === 6) {
        const nowMs = random(200);
        const expected = [...model].filter(([, dueMs]) => dueMs <= nowMs).map(([each]) => each);
        for (const each of expected) model.delete(each);
        assert.equal(due.take(nowMs).sort((a, b) => a - b), expected.sort((a, b) => a - b));
      }
      assert.is(due.firstMs, model.size === 0 ? undefined : Math.min(...model.values()), `step ${step}`);
    }
  });
});
