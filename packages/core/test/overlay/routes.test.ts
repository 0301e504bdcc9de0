/** Routes over an overlay, as one agent takes them. */

import { createTree } from '@stci/topology-tree';
import { assert, suite } from '@stci/testkit';
import { OverlayRoutes } from '../../dist/overlay/routes.js';

/** Of a binary tree 0 (1 (3 4) 2 (5 6)), at position 1. */
const routes = (avoided = new Set<number>()): OverlayRoutes =>
  new OverlayRoutes(createTree(7, 2), 1, (position) => avoided.has(position));

suite('routes over an overlay', (test) => {
  test('the neighbours that lead to an agent, itself first; there is no way to itself, or to who is not there', () => {
    const { ways } = { ways: (target: number) => routes().ways(target) };
    assert.equal([0, 3, 4, 2, 6].map(ways), [[0], [3], [4], [0], [0]]);
    assert.equal([1, -1, 7, 0xffff_ffff].map(ways), [[], [], [], []]);
  });

  test('around those that are gone, and through them again', () => {
    const avoided = new Set<number>();
    const one = routes(avoided);
    assert.equal(one.ways(6), [0]);
    avoided.add(0);
    one.onChange();
    assert.equal([one.ways(6), one.ways(0), one.ways(3)], [[], [0], [3]]);
    avoided.clear();
    one.onChange();
    assert.equal(one.ways(6), [0]);
  });

  test('who is beyond a link: its own peer, and those to whom the same neighbour leads', () => {
    const one = routes();
    assert.equal([0, 2, 6].map((source) => one.isBeyond(source, 0)), [true, true, true]);
    assert.equal([3, 4].map((source) => one.isBeyond(source, 0)), [false, false]);
    assert.is(one.isBeyond(3, 3), true);
  });
});
