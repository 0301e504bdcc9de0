/** The binomial graph: compliance, and its bounds of links and hops. */

import { assert, suite } from '@stci/testkit';
import { topologyCompliance } from '@stci/testkit/compliance';
import { createBmg, topologyBmg } from '@stci/topology-bmg';

const bits = (size: number): number => Math.ceil(Math.log2(Math.max(2, size)));

topologyCompliance(topologyBmg, [
  { label: 'any size', degreeMax: (size: number) => 2 * bits(size), avoidsDead: true },
]);

suite('topology bmg', (test) => {
  test('links are powers of two away', () => {
    assert.equal(createBmg(12).neighbours(0), [1, 2, 4, 8, 10, 11]);
    assert.equal(createBmg(1).neighbours(0), []);
    assert.equal(createBmg(2).neighbours(0), [1]);
  });

  test('a hop takes the largest power of two that does not overshoot', () => {
    const bmg = createBmg(64);
    assert.equal([bmg.nextHop(0, 21), bmg.nextHop(16, 21), bmg.nextHop(0, 63)], [16, 20, 63]);
  });

  test('the diameter and the depth of the spanning tree are logarithmic', () => {
    for (const size of [2, 3, 63, 64, 65, 1000]) {
      const bmg = createBmg(size);
      assert.ok(bmg.diameter <= bits(size), `${size}: ${bmg.diameter}`);
      const tree = bmg.spanningTree(size - 1);
      for (let p = 0; p < size; p++) assert.ok(tree.depth(p) <= bits(size));
    }
  });

  test('an option is refused with the word that there is none', () => {
    const make = (): unknown => topologyBmg.create({}, {}, { kind: 'bmg', size: 3, options: { arity: 2 } });
    assert.match(assert.throwsCode('STCI_TOPOLOGY_INVALID', make).message, 'no option at all');
  });
});
