/** Boot trees by parents: what a policy may answer, the tree at the controller, the part that an agent has. */

import { ParentTree, bootPlanOf, checkBootPlan, planJson, planLaunch, renderPlan, wholePart } from '@stci/core';
import type { HostSpec, Position } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { partFor, type BootTreePart, type ParentsPart } from '../../dist/launcher/parent-tree.js';
import { hosts } from '../job-help.js';

type Parents = readonly (number | undefined)[];

const named = (count: number): HostSpec[] => hosts(Array.from({ length: count }, (_, host) => `n${host}`).join(' '));
/** Host 1 starts 3 and 0, 3 starts 2; 4 is the controller's as well. */
const FIVE: Parents = [1, undefined, 3, 1, undefined];

/** A random tree: hosts are placed in any order, each below one that is placed, or below the controller. */
function drawParents(seed: number, count: number): Parents {
  const random = seededIntegers(seed);
  const rest = Array.from({ length: count }, (_, host) => host);
  const parents: (number | undefined)[] = new Array<undefined>(count).fill(undefined);
  const placed: number[] = [];
  while (rest.length > 0) {
    const [host = 0] = rest.splice(random(rest.length), 1);
    const above = random(placed.length + 1);
    parents[host] = placed[above];
    placed.push(host);
  }
  return parents;
}

const treeOf = (parents: Parents, added = 0): ParentTree =>
  new ParentTree(parents.length + added + 1, wholePart({ parents }) as ParentsPart);

suite('a policy\'s tree', (test) => {
  const refused = (count: number, answer: unknown, words: string): void => {
    const { message } = assert.throwsCode('STCI_LAUNCHER_TREE', () => checkBootPlan('mine', named(count), answer));
    assert.match(message, 'launcher mine: ');
    assert.match(message, words);
  };

  test('is copied, or refused with the host and what was expected', () => {
    const parents = [...FIVE];
    const plan = checkBootPlan('mine', named(5), { parents });
    parents[0] = 7;
    assert.equal(plan, { parents: FIVE });
    assert.equal(checkBootPlan('mine', named(5), { arity: 3 }), { arity: 3 });
    for (const nothing of [undefined, null, 3, {}, { arity: 2, parents: [] }]) {
      refused(2, nothing, 'expected an object with arity or with parents, got');
    }
    refused(2, Promise.resolve({ arity: 2 }), 'got a promise: the call must not be async');
    for (const arity of [0, -1, 1.5, NaN, 1025, '2']) refused(2, { arity }, 'expected an arity in 1..1024, got');
    refused(3, { parents: [undefined] }, 'an array with one for each of 3 hosts, got 1');
    refused(3, { parents: 'all' }, 'got "all"');
    refused(3, { parents: [undefined, 3, 0] }, 'parent of host 1 (n1): expected another host\'s index, or undefined');
    for (const parent of [-1, 0.5, '0', null]) refused(2, { parents: [undefined, parent] }, 'parent of host 1 (n1)');
    refused(2, { parents: [undefined, 1] }, 'got the host itself');
  });

  test('a cycle is named, the shortest', () => {
    refused(7, { parents: [1, 2, 0, 6, undefined, 6, 5] },
      'a cycle of 2 hosts: host 5 (n5), whose parent is host 6 (n6), whose parent is host 5 (n5)');
    refused(20, { parents: Array.from({ length: 20 }, (_, host) => (host + 1) % 20) }, 'a cycle of 20 hosts: host 0');
  });

  test('a policy that throws is named', () => {
    const tree = (): never => { throw new Error('no cabinet is called x'); };
    const fault = assert.throwsCode('STCI_LAUNCHER_TREE', () => bootPlanOf({ policy: 'cabinets', tree }, named(2)));
    assert.match(fault.message, 'launcher cabinets: its tree over 2 hosts could not be made: no cabinet is called x');
  });

  test('is drawn, with the largest number of children of an agent', () => {
    const plan = planLaunch(named(5), { policy: 'mine', tree: () => ({ parents: FIVE }) }, (count, part) =>
      new ParentTree(count + 1, part as ParentsPart));
    assert.is(renderPlan(named(5), plan, 2), [
      'Launch plan: policy mine, 5 root agents, up to 2 children an agent',
      '  levels: 3 below the controller (2 + 2 + 1 agents)',
      '  critical path: 3 steps, 2 at a time',
      'controller', '  n1', '    n0', '    n3', '      n2', '  n4', '',
    ].join('\n'));
    const json = planJson(named(5), plan, 1) as { readonly agents: readonly object[] };
    assert.equal({ ...json, agents: json.agents.slice(2, 3) }, {
      policy: 'mine', childrenMax: 2, levels: [1, 2, 2, 1], window: 1, criticalPathSteps: 4,
      agents: [{ host: 2, name: 'n2', depth: 3, startedBy: 'n3' }],
    });
  });
});

suite('a tree by parents', (test) => {
  test('is as its parents say, in any order of indices', () => {
    for (let count = 1; count <= 30; count++) checkTree(treeOf(drawParents(count, count), count % 4), count);
  });

  test('added hosts have an 8-ary tree of their own below the controller', () => {
    const tree = treeOf(FIVE, 20);
    assert.equal(tree.children(0), [2, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    assert.equal([tree.children(6), tree.children(7), tree.children(8)], [upTo(14, 21), upTo(22, 25), []]);
    assert.equal([tree.parent(14), tree.parent(25), tree.height], [6, 7, 3]);
    // Nothing is listed for places without number.
    const places = new ParentTree(2 ** 28, wholePart({ parents: FIVE }) as ParentsPart);
    assert.equal([places.isAncestor(6, 2 ** 28 - 1), places.isAncestor(2, 3), places.parent(6)], [true, true, 0]);
  });

  test('its part at each agent gives the same answers to what an agent asks', () => {
    for (let count = 1; count <= 24; count++) {
      const parents = drawParents(100 + count, count);
      const whole = wholePart({ parents });
      const tree = treeOf(parents, 9);
      const check = (host: number, part: BootTreePart): void => {
        const own = new ParentTree(tree.size, part as ParentsPart);
        const position = host + 1;
        assert.equal(own.subtree(position), tree.subtree(position), `${count}/${host}: below`);
        for (let other = 0; other < tree.size; other++) {
          const answers = [tree.isAncestor(position, other), tree.isAncestor(other, position)];
          assert.equal([own.isAncestor(position, other), own.isAncestor(other, position)], answers, `${host} ${other}`);
        }
        // An agent makes the parts of its children from its own.
        for (const child of tree.children(position)) check(child - 1, partFor(part, child - 1, own));
        const { length } = (part as ParentsPart).parents;
        assert.ok(length <= 2 * (tree.subtreeSize(position) + tree.depth(position) - 1), `${count}/${host}: ${length}`);
      };
      for (const child of tree.children(0)) check(child - 1, partFor(whole, child - 1, tree));
    }
  });

  test('10 000 hosts in a row cost no more than any others', () => {
    const chain = treeOf(Array.from({ length: 10_000 }, (_, host) => (host === 9999 ? undefined : host + 1)));
    assert.equal([chain.height, chain.depth(1), chain.subtreeSize(10_000)], [10_000, 10_000, 10_000]);
  });
});

function upTo(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Against what is found by walking over all. */
function checkTree(tree: ParentTree, seed: number): void {
  const all = upTo(0, tree.size - 1);
  const wayUp = (at: Position): Position[] => {
    const parent = tree.parent(at);
    return parent === undefined ? [] : [parent, ...wayUp(parent)];
  };
  const ways = all.map(wayUp);
  assert.is(tree.height, Math.max(...ways.map(({ length }) => length)), `${seed}: height`);
  for (const at of all) {
    assert.equal(tree.children(at), all.filter((other) => tree.parent(other) === at), `${seed}: children of ${at}`);
    assert.is(tree.depth(at), ways[at]!.length);
    const below = all.filter((other) => other === at || ways[other]!.includes(at));
    assert.equal([...tree.subtree(at)].sort((a, b) => a - b), below, `${seed}: at and below ${at}`);
    assert.is(tree.subtree(at)[0], at);
    assert.is(tree.subtreeSize(at), below.length);
    for (const other of all) assert.is(tree.isAncestor(other, at), ways[at]!.includes(other), `${other} ${at}`);
  }
}
