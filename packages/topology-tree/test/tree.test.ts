/** The k-ary tree: compliance, and its own guarantees. */

import { StciError } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { topologyCompliance } from '@stci/testkit/compliance';
import { createTree, topologyTree } from '@stci/topology-tree';

const arities = [1, 2, 3, 4, 7, 8, 39, 64];

topologyCompliance(topologyTree, arities.map((arity) => ({
  label: `arity ${arity}`,
  options: () => ({ arity }),
  degreeMax: () => arity + 1,
  avoidsDead: true,
  largeSizes: arity === 1 ? [1_000] : [1_000, 100_000],
})));

const make = (size: number, options: Record<string, unknown> = {}): unknown =>
  topologyTree.create({}, { arity: 2 }, { kind: 'tree', size, options });

suite('topology tree', (test) => {
  test('is numbered level by level', () => {
    const tree = createTree(8, 2);
    assert.equal([0, 1, 2, 3, 4].map((p) => tree.children(p)), [[1, 2], [3, 4], [5, 6], [7], []]);
    assert.equal(tree.subtree(1), [1, 3, 7, 4]);
    assert.equal([tree.height, tree.diameter, tree.depth(7)], [3, 5, 3]);
  });

  test('ancestors and subtrees agree, for all of them', () => {
    for (const arity of arities) {
      for (let size = 1; size <= 40; size++) {
        const tree = createTree(size, arity);
        for (let a = 0; a < size; a++) {
          const below = new Set(tree.subtree(a));
          assert.is(below.size, tree.subtreeSize(a));
          for (let b = 0; b < size; b++) assert.is(tree.isAncestor(a, b), a !== b && below.has(b), `${size}/${arity}`);
        }
      }
    }
  });

  test('a million positions and a chain are answered without walking them', () => {
    const chain = createTree(200_000_000, 1);
    const dead = new Set([100_000_000]);
    assert.equal([chain.depth(199_999_999), chain.height], [199_999_999, 199_999_999]);
    assert.is(chain.subtreeSize(5), 199_999_995);
    assert.equal([chain.nextHop(5, 199_999_999), chain.nextHop(9, 3), chain.nextHop(5, 99_999_999, dead)], [6, 8, 6]);
    assert.is(chain.nextHop(5, 100_000_001, dead), undefined);
    assert.is(chain.spanningTree(10).depth(150_000_000), 149_999_990);
    assert.not.ok(chain.isAncestor(7, 7));
    const tree = createTree(200_000_000, 8);
    const random = seededIntegers(1);
    for (let i = 0; i < 1000; i++) {
      const p = random(tree.size);
      assert.is(tree.children(p).reduce((sum, child) => sum + tree.subtreeSize(child), 1), tree.subtreeSize(p));
    }
  });

  test('bad requests are refused with option, expectation and value', () => {
    const cases: [number, Record<string, unknown>, string][] = [
      [4, { arity: 0 }, 'option arity: expected an integer in 1..1024, got 0'],
      [4, { arity: 1.5 }, 'got 1.5'],
      [4, { arity: '2' }, 'got "2"'],
      [4, { arty: 2 }, 'unknown option: expected one of arity, got "arty"'],
      [0, {}, 'size: expected an integer in 1..268435456, got 0'],
    ];
    for (const [size, options, words] of cases) {
      const error = assert.throwsCode('STCI_TOPOLOGY_INVALID', () => make(size, options));
      assert.match(error.message, words);
      assert.ok(error instanceof StciError);
    }
    assert.equal((make(9, { arity: 3 }) as { arity: number }).arity, 3);
    assert.equal((make(9) as { arity: number }).arity, 2);
  });
});
