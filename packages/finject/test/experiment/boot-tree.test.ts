/** The boot tree of a target, k-ary or any other, as a plan and a record have it. */

import { assert, suite } from '@stci/testkit';
import {
  depthOf, hasTree, heightOf, parentOf, treeLinks, treeShape, withAncestors,
} from '../../dist/experiment/boot-tree.js';
import { topologyChart } from '../../dist/report/topology.js';
import { effectOn } from '../../dist/judge/victims.js';
import { makeShape } from './make.js';

/** Host 2 starts 0 and 3, 0 starts 1; 4 is the controller's as well. */
const ANY = { ...makeShape(5, 5), ...treeShape({ parents: [2, 0, undefined, 2, undefined] }), arity: undefined };

suite('boot tree of a target', (test) => {
  test('by parents it is what the policy said', () => {
    assert.equal(ANY.parents, [3, 1, 0, 3, 0]);
    assert.equal([1, 2, 3, 4, 5].map((position) => parentOf(position, ANY)), [3, 1, 0, 3, 0]);
    assert.equal([depthOf(2, ANY), heightOf(ANY), [...withAncestors([1], ANY)]], [3, 3, [1, 0, 2]]);
    assert.equal(treeLinks(ANY), [[3, 1], [1, 2], [0, 3], [3, 4], [0, 5]]);
    const follows = (host: number): unknown =>
      effectOn({ kind: 'host', host: 2 }, { kind: 'host', host, incarnation: 1 }, ANY);
    assert.equal([0, 1, 2, 3, 4].map(follows), ['follows', 'follows', 'direct', 'follows', undefined]);
    assert.match(topologyChart(ANY, [])?.text ?? '', 'Boot tree; 0 of 5 hosts hit');
  });

  test('by arity it is numbered level by level', () => {
    const shape = { ...makeShape(5, 5), ...treeShape({ arity: 2 }) };
    assert.equal([[1, 2, 3, 4, 5].map((position) => parentOf(position, shape)), heightOf(shape)], [[0, 0, 1, 1, 2], 2]);
    assert.match(topologyChart(shape, [])?.text ?? '', 'Boot tree, arity 2; 0 of 5 hosts hit');
  });

  test('a record whose shape has no tree is not run again', () => {
    const bad: readonly object[] = [
      { parents: [0] }, { parents: [0, 0, 0, 0, 6] }, { parents: [2, 1, 0, 0, 0] }, { parents: [1, 0, 0, 0, 0] },
    ];
    for (const change of bad) assert.not.ok(hasTree({ ...ANY, ...change }), JSON.stringify(change));
    for (const arity of [0, undefined]) assert.not.ok(hasTree({ ...ANY, parents: undefined, arity }));
    assert.ok(hasTree(ANY) && hasTree({ ...ANY, parents: undefined, arity: 1 }));
  });
});
