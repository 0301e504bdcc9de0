/** What of a job's records a front-end has shown: in any order, told from the oldest on. */

import { assert, suite } from '@stci/testkit';
import { UnackedRecords } from '../../dist/sessions/unacked-records.js';

suite('records that a front-end has not shown', (test) => {
  test('what is behind one that is not shown does not count for it', () => {
    const records = new UnackedRecords();
    const [output, event, more] = [records.add(100), records.add(70), records.add(5)] as const;
    event();
    assert.is(records.takeShown(), 0);
    assert.is(records.openBytes, 105);
    output();
    assert.is(records.takeShown(), 170);
    assert.is(records.takeShown(), 0, 'once');
    more();
    assert.is(records.takeShown(), 5);
    assert.is(records.openBytes, 0);
  });

  test('all orders of four: the sum is right at the end, and never more than a prefix before', () => {
    const costs = [1, 10, 100, 1000];
    const orders = costs.flatMap((_, a) => costs.flatMap((__, b) => costs.flatMap((___, c) => costs.map((____, d) =>
      [a, b, c, d])))).filter((order) => new Set(order).size === costs.length);
    assert.is(orders.length, 24);
    for (const order of orders) {
      const records = new UnackedRecords();
      const done = costs.map((cost) => records.add(cost));
      let shown = 0;
      for (const [count, index] of order.entries()) {
        (done[index] as () => void)();
        shown += records.takeShown();
        const isDone = (i: number): boolean => order.slice(0, count + 1).includes(i);
        const gap = costs.findIndex((_, i) => !isDone(i));
        assert.is(shown, costs.slice(0, gap < 0 ? costs.length : gap).reduce((sum, cost) => sum + cost, 0));
      }
    }
  });
});
