/** Core's notifiers: compliance, what `tree` repairs, and the messages that `lazy` saves. */

import type { NotifierModule, Topology } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { NotifierNetwork, membersOf, notifierCompliance } from '@stci/testkit/compliance';
import { createBmg, topologyBmg } from '@stci/topology-bmg';
import { createTree, topologyTree } from '@stci/topology-tree';
import { decodeBroadcast } from '../../dist/notifier/broadcast.js';
import { notifierDirect } from '../../dist/notifier/direct.js';
import { notifierLazy } from '../../dist/notifier/lazy.js';
import { notifierTree } from '../../dist/notifier/tree.js';

notifierCompliance(notifierDirect);
notifierCompliance(notifierTree, { topologies: [topologyTree] });
notifierCompliance(notifierLazy, { topologies: [topologyBmg] });

type TopologyOf = (size: number) => Topology;

function network(module: NotifierModule, topologyOf: TopologyOf, size: number, latencyMs: number): NotifierNetwork {
  return new NotifierNetwork({ module, topologyOf, members: membersOf(size), seed: size, latencyMs });
}

suite('notifiers of core', (test) => {
  const tree = notifierTree.create({}, { topology: 'tree' }, undefined);
  const lazy = notifierLazy.create({}, { topology: 'bmg', delay: 50 }, undefined);
  const binary: TopologyOf = (size) => createTree(size, 2);

  test('tree: what a dead relay did not pass on goes past it, in whatever order deaths become known', () => {
    for (const order of [[1, 4], [4, 1]]) {
      const agents = network(tree, binary, 15, 10);
      for (const position of order) agents.kill(position);
      agents.broadcast(2, Uint8Array.of(1));
      agents.run();
      const told = (): number[] => agents.survivors().filter((position) => agents.deliveries(position).length > 0);
      assert.equal(told(), [0, 5, 6, 11, 12, 13, 14], 'those beyond the dead are not told');
      for (const position of order) agents.tell({ type: 'gone', member: { position, incarnation: 1 } });
      agents.run();
      assert.equal(told(), [0, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], `${order.join()} are known to be dead`);
      for (const position of agents.survivors()) assert.ok(agents.deliveries(position).length <= 1, 'once');
    }
  });

  test('children with the most agents below them get their copies first, also in place of a dead one', () => {
    const firstCopies = (module: NotifierModule, topologyOf: TopologyOf, size: number, dead?: number): number[] => {
      const agents = network(module, topologyOf, size, 5);
      if (dead !== undefined) agents.tell({ type: 'gone', member: { position: dead, incarnation: 1 } });
      agents.broadcast(0, Uint8Array.of(1));
      return agents.sent.map(({ to }) => to);
    };
    assert.equal(firstCopies(tree, binary, 6, 1), [2, 3, 4], 'tree: 5 is below 2');
    const { subtreeSize } = createBmg(64).spanningTree(0);
    const below = firstCopies(lazy, createBmg, 64).map((to) => subtreeSize(to));
    assert.equal(below, [32, 16, 8, 4, 2, 1]);
  });

  test('tree: an agent that died long after a broadcast is no reason to send it again', () => {
    const agents = network(tree, binary, 7, 10);
    agents.broadcast(0, Uint8Array.of(1));
    agents.run();
    const { length } = agents.sent;
    agents.nowMs += 60_001;
    agents.kill(1);
    agents.tell({ type: 'gone', member: { position: 1, incarnation: 1 } });
    assert.is(agents.sent.length, length);
  });

  test('a broadcast that names positions outside of it is refused', () => {
    const right = [1, 1, 0, 4, [2, 3], Uint8Array.of(1)];
    assert.equal(decodeBroadcast(right, 4).source, { position: 1, incarnation: 1 });
    for (const [index, wrong] of [[0, 4], [0, 2], [3, 1], [3, 3], [4, [2, 2]], [4, [4]], [4, [1]]] as const) {
      const body = right.map((item, i) => (i === index ? wrong : item));
      assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeBroadcast(body, 4));
    }
    assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeBroadcast(right, 3));
  });

  test('lazy: one message over each link if nobody fails, the spanning tree first', () => {
    for (const size of [2, 7, 16, 64, 200]) {
      const agents = network(lazy, createBmg, size, 5);
      agents.broadcast(size - 1, Uint8Array.of(1));
      agents.run();
      const times = [...agents.agents.values()].map(({ delivered }) => delivered[0]?.atMs ?? 0);
      assert.ok(Math.max(...times) <= 5 * Math.ceil(Math.log2(size)), `${size}: the tree tells all`);
      const links = createBmg(size).neighbours(0).length * size / 2;
      assert.is(agents.sent.length, links, `${size} agents`);
    }
  });

  test('lazy: a dead agent that the source knows does not delay those beyond it', () => {
    const agents = network(lazy, createBmg, 64, 5);
    agents.kill(32);
    agents.tell({ type: 'gone', member: { position: 32, incarnation: 1 } });
    agents.broadcast(0, Uint8Array.of(1));
    agents.run();
    for (const position of agents.survivors().slice(1)) {
      assert.ok(agents.agents.get(position)!.delivered[0]!.atMs <= 30, `agent ${position}`);
    }
  });
});
